"""Answers for `ragweave eval check`: groups of right sentences and sentences with planted errors.

`cases` builds them from a question set and its library. `written` reads the hand-written ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragweave.components.best_sentence import best_sentence
from ragweave.components.context import Context
from ragweave.components.evidence import Strip
from ragweave.components.exam import ExamCase
from ragweave.components.passages import as_strip
from ragweave.evals.data import read_jsonl
from ragweave.evals.planting import KINDS, RIGHT, CheckedSentence, digest, planted
from ragweave.evals.planting_meanings import MEANINGS
from ragweave.graphs.run import asearch
from ragweave.models.errors import InputError
from ragweave.models.text import sentences

SHOWN = 8
"""Number of retrieved passages that the writer of an answer is assumed to have seen."""
WRITTEN = Path(__file__).parent / "written_marks.json"
_MARKS = re.compile(r"\s*(?:\[\d+\]|\(unverified\)|\(not found in the sources\)|✓)")

Questions = Mapping[str, Mapping[str, Any]]
"""Rows of a question set by id."""


async def cases(
    folder: Path, library: str, answers: Path | None, right: int, wrong: int, each: int
) -> list[list[CheckedSentence]]:
    """Return the answers of a set, with `right` right sentences and `wrong` planted errors.

    Errors are planted into sentences that are not kept as right, if there are enough of those. Otherwise they
    are planted into all right sentences.
    """
    pool = await right_sentences(folder, library, answers)
    rest = pool[right:]
    kinds = {**KINDS, **MEANINGS}
    made = planted(rest if len(rest) >= wrong else pool, wrong, kinds)
    if len(made) < wrong:
        made += _more_errors(pool, made, wrong)
    return grouped(pool[:right], made, each)


def _more_errors(
    pool: Sequence[CheckedSentence], made: Sequence[CheckedSentence], wrong: int
) -> list[CheckedSentence]:
    """Plant the errors that are missing from `wrong`, each with a new id."""
    ids = [sentence.id for sentence in made]
    new = []
    for sentence in planted(pool, 2 * wrong, {**KINDS, **MEANINGS}):
        if sentence.id not in ids:
            new.append(sentence)
    return new[: wrong - len(made)]


async def right_sentences(folder: Path, library: str, answers: Path | None) -> list[CheckedSentence]:
    """Return the right sentences of a set, in the order of their digests."""
    questions: dict[str, Mapping[str, Any]] = {}
    for row in read_jsonl(folder / "questions.jsonl", ["id", "question"]):
        questions[str(row["id"])] = row
    if answers is None:
        made = await _from_library(questions, library)
    else:
        made = await _from_answers(questions, library, answers)
    if not made:
        raise InputError(
            f"{answers or folder} holds no right sentence", "name answers to questions of this set"
        )
    return sorted(made, key=lambda sentence: digest(sentence.id))


async def _from_answers(questions: Questions, library: str, answers: Path) -> list[CheckedSentence]:
    """Return the sentences of those recorded answers that hold an accepted answer and cite a passage."""
    out: list[CheckedSentence] = []
    for recorded in read_jsonl(answers, ["id", "answer"]):
        question = questions.get(str(recorded["id"]).rpartition("/")[2])
        if question is None or not recorded.get("cited") or not _is_right(question, recorded["answer"]):
            continue
        query = " ".join([*question.get("previous", []), question["question"]])
        found = await _search(query, Context(library=library, mode="extractive", top_k=50))
        named = _cited(recorded["cited"], found)
        if not named:
            continue
        files = tuple(set(map(_file, named)))
        known = list(named)
        for strip in found[:SHOWN]:
            if strip not in named:
                known.append(strip)
        plain = _MARKS.sub("", recorded["answer"])
        for n, (start, end) in enumerate(sentences(plain)):
            id, text = f"{question['id']}:{n}", plain[start:end]
            out.append(CheckedSentence(id, RIGHT, text, query, tuple(named), tuple(known), files))
    return out


def _cited(files: Sequence[str], found: Sequence[Strip]) -> list[Strip]:
    """Return the retrieved passages of the cited files, at most two for each citation."""
    named: list[Strip] = []
    for file in files:
        for strip in found:
            if _file(strip).endswith(file):
                named.append(strip)
    return named[: 2 * len(files)]


async def _from_library(questions: Questions, library: str) -> list[CheckedSentence]:
    """Return the best sentence of the best passage for each question, attributed to its title."""
    out = []
    for question in questions.values():
        query = question["question"]
        found = await _search(query, Context(library=library, mode="extractive"))
        if not found:
            continue
        best = found[0]
        sentence = " ".join(best_sentence(query, best["text"]).split()).rstrip(".")
        text = f"By “{best['title']}”, {sentence}."
        id, known = f"{question['id']}:0", tuple(found[:SHOWN])
        out.append(CheckedSentence(id, RIGHT, text, query, (best,), known, (_file(best),)))
    return out


async def _search(query: str, context: Context) -> list[Strip]:
    return [as_strip(evidence) for evidence in await asearch(query, context=context)]


def _file(strip: Strip) -> str:
    return strip["locator"].get("file", "")


def _is_right(question: Mapping[str, Any], answer: str) -> bool:
    """Return whether an answer holds as many of the accepted answers as its question needs."""
    text = answer.casefold()
    matches = 0
    for accepted in question.get("answers", []):
        if _holds_any(text, str(accepted).split("|")):
            matches += 1
    return matches >= int(question.get("need", 1)) and bool(question.get("answerable", True))


def _holds_any(text: str, forms: Sequence[str]) -> bool:
    for form in forms:
        if form.casefold() in text:
            return True
    return False


def grouped(
    right: Sequence[CheckedSentence], wrong: Sequence[CheckedSentence], each: int
) -> list[list[CheckedSentence]]:
    """Group sentences into answers of about `each` sentences, in the order of their digests.

    No answer has two sentences of one origin.
    """
    ordered = sorted([*right, *wrong], key=lambda s: digest("order", s.kind, s.id))
    out: list[list[CheckedSentence]] = []
    for sentence in ordered:
        answer = _open_answer(out, _origin(sentence), each)
        if answer is None:
            out.append([sentence])
        else:
            answer.append(sentence)
    return out


def _open_answer(
    answers: Sequence[list[CheckedSentence]], origin: str, each: int
) -> list[CheckedSentence] | None:
    """Return the first answer that has room and no sentence of this origin."""
    for answer in answers:
        if len(answer) < each and origin not in map(_origin, answer):
            return answer
    return None


def _origin(sentence: CheckedSentence) -> str:
    return sentence.id.rpartition(":")[0]


def written() -> list[list[CheckedSentence]]:
    """Return the hand-written answers, each with its own passages."""
    rows = json.loads(WRITTEN.read_text(encoding="utf-8"))
    answers = []
    for n, row in enumerate(rows):
        answers.append(_written(f"written-{n}", ExamCase.model_validate(row)))
    return answers


def _written(name: str, case: ExamCase) -> list[CheckedSentence]:
    strips = []
    for n, shown in enumerate(case.passages, 1):
        strip: Strip = {
            "id": f"{name}#{n}",
            "evidence": f"{name}#{n}",
            "text": shown.text,
            "title": shown.title,
            "locator": {"file": f"{name}-{n}"},
            "origin": "library",
            "query": case.question,
            "hop": 1,
            "score": 1.0,
        }
        strips.append(strip)
    out = []
    for n, item in enumerate(case.sentences):
        kind = f"{RIGHT}, {item.kind}" if item.true else item.kind
        named = [strips[i - 1] for i in item.cites]
        files = tuple(map(_file, named))
        id = f"{name}:{n}"
        out.append(CheckedSentence(id, kind, item.text, case.question, tuple(named), tuple(strips), files))
    return out
