"""Read question answering sets in their published forms.

A set is a file of questions, or a folder with such a file and the passages or recordings to search. The
fields of a row tell its form, and the name of a file tells whether it is a corpus; `docs/papers.md` lists
both.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragweave.corpora.types import LABELS
from ragweave.evals.answers import Question, question_of
from ragweave.evals.bench.corpora import named_files, qrels_of, read_passages, recorded, texts
from ragweave.evals.bench.options import options_of
from ragweave.evals.bench.raw import list_of, raw_rows
from ragweave.evals.data import listed, released_label
from ragweave.evals.mixed_data import library_rows
from ragweave.evals.mixed_data import questions as mixed_questions
from ragweave.evals.question_files import choice
from ragweave.models.errors import InputError

Row = dict[str, Any]
QUESTIONS = ("queries", "questions", "dataset", "qa", "test", "dev", "validation")
"""Names of a file of questions in a folder; the first that exists counts."""
CORPORA = ("corpus.jsonl", "passages.jsonl", "wiki18_100w.jsonl", "psgs_w100.tsv")
"""Names of a file of passages in the same folder."""
IDS = ("id", "_id", "index", "QuestionId", "question_id", "claim_id")
_DESCRIBED = re.compile(r'\(description (?:"((?:[^"\\]|\\.)*)"|([^()]+))\)')
_STATEMENTS = {"true": "true", "false": "false", "supports": "true", "refutes": "false"}


@dataclass(frozen=True)
class FormBundle:
    """A set: its questions, the labels of those that have one, and the material to search.

    `rows` are rows of an item list, with or without their kind; `files` are recordings and pictures to index.
    """

    name: str
    questions: Sequence[Question]
    labels: Mapping[str, str] = field(default_factory=dict)
    rows: Sequence[Row] = ()
    files: Sequence[Path] = ()


def read(name: str, path: Path, corpus: Path | None = None) -> FormBundle:
    """Read a set.

    Raises:
        InputError: the path does not exist, or a row has no known form; the message names it.
    """
    if not path.exists():
        raise InputError(f"{path} is not there", f"name the file or the folder of {name}")
    if path.is_dir() and (path / "squad_xquad_en").is_dir() and (path / "images_astronomy").is_dir():
        return _mixed(name, path)
    file = path if path.is_file() else _question_file(path)
    raw = list(raw_rows(file))
    passages: dict[str, Row] = {}
    questions, labels = _questions(raw, file, passages, qrels_of(path) if path.is_dir() else {})
    if corpus is None and path.is_dir():
        corpus = _corpus_file(path)
    if corpus is not None:
        passages = _by_id(read_passages(corpus))
    files: list[Path] = []
    if labels:
        files = named_files(raw, file)
    elif not passages:
        files = recorded(file.parent)
    if labels and not passages:
        passages = _by_id(texts(raw, file))
    return FormBundle(name, questions, labels, list(passages.values()), files)


def _mixed(name: str, path: Path) -> FormBundle:
    """Return the set of public data over all corpora."""
    questions, labels = [], {}
    for q in mixed_questions(path):
        questions.append(Question(q.id, q.text, (), q.gold, kind=name))
        labels[q.id] = q.corpus
    return FormBundle(name, questions, labels, library_rows(path))


def _questions(
    raw: Sequence[Any], file: Path, passages: dict[str, Row], qrels: Mapping[str, Sequence[str]]
) -> tuple[list[Question], dict[str, str]]:
    """Return the questions of raw rows and their labels; add the passages that the rows contain.

    With relevance judgements (`qrels`), questions without a relevant passage are left out.
    """
    questions: dict[str, Question] = {}
    labels: dict[str, str] = {}
    for n, given in enumerate(raw, 1):
        row = _question(given, passages, file, n)
        row["kind"] = str(row.get("kind") or "")
        if qrels:
            row["gold"] = qrels.get(row["id"], [])
        if row.get("gold") or not qrels:
            questions.setdefault(row["id"], question_of(row))
        if row.get("label") in LABELS:
            labels[row["id"]] = str(row["label"])
    return list(questions.values()), labels


def _by_id(rows: Sequence[Row]) -> dict[str, Row]:
    found = {}
    for row in rows:
        found[str(row["id"])] = row
    return found


def _corpus_file(folder: Path) -> Path | None:
    """Return the file of passages of a folder."""
    for name in CORPORA:
        if (folder / name).is_file():
            return folder / name
    return None


def _question_file(folder: Path) -> Path:
    """Return the file of questions of a folder."""
    tables: dict[str, Path] = {}
    rest = []
    for path in sorted(folder.iterdir()):
        if path.suffix not in (".jsonl", ".json", ".tsv", ".csv"):
            continue
        tables.setdefault(path.stem, path)
        if path.name not in CORPORA:
            rest.append(path)
    for stem in QUESTIONS:
        if stem in tables:
            return tables[stem]
    if len(rest) != 1:
        raise InputError(
            f"{folder} holds no one file of questions", f"name it {QUESTIONS[0]}.jsonl, or give the file"
        )
    return rest[0]


def _question(row: Any, passages: dict[str, Row], file: Path, n: int) -> Row:
    """Read one row of any form, and add the passages that it contains."""
    if not isinstance(row, dict):
        raise InputError(f"row {n} of {file.name} is no object", "see docs/papers.md for the forms")
    if row.get("letter") or {"kind", "question"} == {*row} - {"id"}:
        return row
    id = _id(row, n)
    text = row.get("question", row.get("Question", row.get("claim", row.get("query", row.get("utterance")))))
    nested = text if isinstance(text, dict) else {}
    options = row.get("choices") or row.get("options") or nested.get("choices")
    key = row.get("answerKey", row.get("answer", row.get("golden_answers")))
    if options is not None and key is not None:
        return _multiple_choice(id, nested["stem"] if nested else str(text), options, key, file, n)
    if not isinstance(text, str):
        text = row.get("text")
        if not text:
            raise InputError(f"row {n} of {file.name} has no question", "see docs/papers.md for the forms")
    out: Row = {"id": id, "question": text, "answers": _answers(row), "gold": _gold(row, passages)}
    _add_details(out, row)
    return out


def _add_details(out: Row, row: Row) -> None:
    """Add kind, label and letter to a question, and whether it is answerable."""
    for name in ("kind", "answerable"):
        if name in row:
            out[name] = row[name]
    if "gt_retrieval" in row:  # UniversalRAG, as released
        out["label"] = released_label(row["gt_retrieval"])
    if row.get("videos") == ["none"]:
        out |= {"answerable": False, "gold": []}
    if (
        len(out["answers"]) == 1
        and re.fullmatch(r"[A-J]", out["answers"][0])
        and options_of(out["question"])[1]
    ):
        out |= {"letter": out["answers"][0], "answers": []}


def _id(row: Row, n: int) -> str:
    """Return the id of a row, or its number."""
    for name in IDS:
        if row.get(name) not in (None, ""):
            return str(row[name])
    return str(n)


def _multiple_choice(id: str, stem: str, stated: Any, key: Any, file: Path, n: int) -> Row:
    """Read a multiple choice question: ARC in both of its forms, or FlashRAG.

    The key is the mark, the text or the number of the right option.
    """
    marks, options = [], []
    if isinstance(stated, Mapping):
        for mark, text in zip(stated["label"], stated["text"], strict=True):
            marks.append(str(mark))
            options.append(str(text))
    else:
        for number, option in enumerate(stated):
            named = isinstance(option, Mapping)
            marks.append(str(option["label"]) if named else str(number))
            options.append(str(option["text"]) if named else str(option))
    right = str(key[0] if isinstance(key, list) else key)
    letters = list("ABCDEFGHIJ")
    answer = ""
    for names in (marks, options, letters):
        if right in names:
            answer = letters[names.index(right)]
            break
    given = {"id": id, "question": stem, "options": options, "answer": answer}
    return choice(given, "id", "", file, n)


def _answers(row: Row) -> list[str]:
    """Return the accepted answers of a row, without repetitions."""
    if "Answer" in row:  # TriviaQA
        return _distinct([row["Answer"]["Value"], *row["Answer"].get("Aliases", [])])
    if "targetValue" in row:  # WebQuestions
        described = []
        for quoted, bare in _DESCRIBED.findall(row["targetValue"]):
            described.append((quoted or bare).strip())
        return described
    for name in ("golden_answers", "answers", "possible_answers", "answer", "label"):
        found = row.get(name)
        if found in (None, ""):
            continue
        if name == "answers" and isinstance(found, list) and found and isinstance(found[0], dict):
            found = [answer["text"] for answer in found]  # SQuAD
        answers = _distinct(list_of(found))
        if "claim" in row or name == "label":
            for n, answer in enumerate(answers):
                answers[n] = _STATEMENTS.get(answer.casefold(), answer)
        return answers
    return []


def _distinct(values: Iterable[str]) -> list[str]:
    """Return values without repetitions, in their order."""
    return list(dict.fromkeys(values))


def _gold(row: Row, passages: dict[str, Row]) -> list[str]:
    """Return the ids of the passages that answer a row, and add the passages that it contains."""
    if "squad" in row:
        passages.setdefault(row["squad"]["id"], row["squad"])
        return [row["squad"]["id"]]
    if "context" in row and isinstance(row["context"], str):  # SQuAD, one question a row
        key = f"{row.get('title', '')}#{zlib.crc32(row['context'].encode())}"
        passages.setdefault(key, {"id": key, "title": row.get("title") or key, "text": row["context"]})
        return [key]
    if "supporting_facts" in row and "context" in row:  # HotpotQA, 2WikiMultihopQA
        for title, sentences in row["context"]:
            stripped = [sentence.strip() for sentence in sentences]
            passages.setdefault(title, {"id": title, "title": title, "text": " ".join(stripped)})
        return _distinct([title for title, _ in row["supporting_facts"]])
    if "positive_ctxs" in row or "ctxs" in row:
        return _gold_contexts(row, passages)
    return _gold_names(row)


def _gold_names(row: Row) -> list[str]:
    """Return the ids of gold passages or files that a row names."""
    if "gt_retrieval" in row:
        paths: list[str] = []
        for name in ("gt_texts", "gt_images", "gt_videos"):
            paths += row.get(name) or ()
        return _distinct([Path(path).name for path in paths])
    for name in ("gold", "gold_files", "videos"):
        if isinstance(row.get(name), list | str):
            return [*listed(row[name])]
    return []


def _gold_contexts(row: Row, passages: dict[str, Row]) -> list[str]:
    """Read the contexts of DPR, or of Self-RAG and CRAG."""
    gold: list[str] = []
    for kind in ("positive_ctxs", "negative_ctxs", "hard_negative_ctxs", "ctxs"):
        for c in row.get(kind) or ():
            key = str(c.get("passage_id") or c.get("id") or f"{c['title']} {c['text'][:80]}")
            passages.setdefault(key, {"id": key, "title": c["title"] or key, "text": c["text"]})
            if kind == "positive_ctxs" or (kind == "ctxs" and c["title"] == row.get("s_wiki_title")):
                gold.append(key)
    return gold


def collections(bundle: FormBundle, path: Path) -> list[FormBundle]:
    """Divide a set whose collections have their own recordings (LongerVideos) into one set for each.

    The folder of a collection is named `<id>-<name>`. A set without such folders is returned whole.
    """
    root = path if path.is_dir() else path.parent
    questions: dict[str, list[Question]] = {}
    for question in bundle.questions:
        questions.setdefault(question.id.rpartition("-")[0], []).append(question)
    out = []
    for key, own in questions.items():
        folders = sorted(root.glob(f"{key}-*"))
        if not key or not folders:
            return [bundle]
        out.append(FormBundle(bundle.name, own, files=recorded(folders[0])))
    return out
