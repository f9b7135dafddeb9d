"""How often the check keeps a right sentence and catches a wrong one: `ragweave eval check`.

With `--set` right sentences are those of kept answers that hold an accepted answer, with what they cite;
without answers they are sentences of the library itself, told under their title. Errors are planted into
others of them (`evals/planting.py`, `evals/planting_meanings.py`). Without a set they are written ones, with
kinds of error that no rule can make, and right sentences as a good model writes them. They are put together
into answers of a few sentences, which the product's own check takes.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from ragweave.components import exam
from ragweave.components.check import NOT_CHECKED, CheckSource, Claim, Mark, check, others
from ragweave.components.context import Context
from ragweave.components.evidence import Strip
from ragweave.components.exam import ExamCase
from ragweave.components.passages import as_strip, best_sentence
from ragweave.components.run_context import RunContext, TurnState
from ragweave.evals.data import read_jsonl
from ragweave.evals.planting import KINDS, RIGHT, CheckedSentence, digest, planted
from ragweave.evals.planting_meanings import MEANINGS, NEWER
from ragweave.graphs.run import asearch
from ragweave.models.errors import InputError
from ragweave.models.meter import Meter
from ragweave.models.text import sentences
from ragweave.prompts import load, quote

OpinionBy = Literal["model", "faithfulness"]
"""Who judges: the product's check, or the prompt of RAGAS's kind, a verdict for each sentence against all that was
retrieved (Es et al. 2024, section 3)."""
PROMPTS = "ragweave.evals.prompts"
SHOWN = 8
"""Passages that the writer of an answer is taken to have been shown."""
WRITTEN = Path(__file__).parent / "written_marks.json"
GOOD = ("verified", "follows")
"""Marks that tell a reader to trust a sentence."""
DISPUTED = "older document"
"""Kind of a sentence that an older document says and a newer one denies."""
_CONFIDENCE = 0.95
_MARKS = re.compile(r"\s*(?:\[\d+\]|\(unverified\)|\(not found in the sources\)|✓)")

Row = dict[str, Any]
"""What became of one sentence; plain data, as it is kept in records."""


@dataclass(frozen=True)
class CheckedSet:
    """Rows of all sentences, and one of each answer: calls, tokens, seconds."""

    sentences: list[Row]
    answers: list[Row]


async def right_sentences(folder: Path, library: str, answers: Path | None) -> list[CheckedSentence]:
    """Return the right sentences of a set, in the order of their digests."""
    questions = {str(q["id"]): q for q in read_jsonl(folder / "questions.jsonl", ["id", "question"])}
    made = (
        await _of_library(questions, library)
        if answers is None
        else await _of_answers(questions, library, answers)
    )
    if not made:
        raise InputError(
            f"{answers or folder} holds no right sentence", "name answers to questions of this set"
        )
    return sorted(made, key=lambda s: digest(s.id))


async def _of_answers(
    questions: Mapping[str, Mapping[str, Any]], library: str, answers: Path
) -> list[CheckedSentence]:
    out: list[CheckedSentence] = []
    for kept in read_jsonl(answers, ["id", "answer"]):
        q = questions.get(str(kept["id"]).rpartition("/")[2])
        if q is None or not kept.get("cited") or not _is_right(q, kept["answer"]):
            continue
        asked = " ".join([*q.get("previous", []), q["question"]])
        context = Context(library=library, mode="extractive", top_k=50)
        found = [as_strip(e) for e in await asearch(asked, context=context)]
        named = [s for f in kept["cited"] for s in found if _file(s).endswith(f)][: 2 * len(kept["cited"])]
        plain = _MARKS.sub("", kept["answer"])
        home = tuple({_file(s) for s in named})
        known = [*named, *(s for s in found[:SHOWN] if s not in named)]
        for n, (a, b) in enumerate(sentences(plain)):
            told = CheckedSentence(
                f"{q['id']}:{n}", RIGHT, plain[a:b], asked, tuple(named), tuple(known), home
            )
            out += [told] if named else []
    return out


async def _of_library(questions: Mapping[str, Mapping[str, Any]], library: str) -> list[CheckedSentence]:
    """Return for each question the nearest sentence of the best passage, told under its title."""
    out = []
    for q in questions.values():
        found = [
            as_strip(e)
            for e in await asearch(q["question"], context=Context(library=library, mode="extractive"))
        ]
        if found:
            said = " ".join(best_sentence(q["question"], found[0]["text"]).split()).rstrip(".")
            told = f"By “{found[0]['title']}”, {said}."
            home = (_file(found[0]),)
            out.append(
                CheckedSentence(
                    f"{q['id']}:0", RIGHT, told, q["question"], (found[0],), tuple(found[:SHOWN]), home
                )
            )
    return out


def _file(strip: Strip) -> str:
    return strip["locator"].get("file", "")


def _is_right(question: Mapping[str, Any], answer: str) -> bool:
    said = answer.casefold()
    forms = [any(f.casefold() in said for f in str(a).split("|")) for a in question.get("answers", [])]
    return sum(forms) >= int(question.get("need", 1)) and bool(question.get("answerable", True))


def grouped(
    right: Sequence[CheckedSentence], wrong: Sequence[CheckedSentence], each: int
) -> list[list[CheckedSentence]]:
    """Return answers of about `each` sentences, in the order of their digests; no two of one origin in an answer."""
    left = sorted([*right, *wrong], key=lambda s: digest("order", s.kind, s.id))
    out: list[list[CheckedSentence]] = []
    for s in left:
        origin = s.id.rpartition(":")[0]
        others = [a for a in out if origin not in {o.id.rpartition(":")[0] for o in a}]
        free = next((a for a in others if len(a) < each), None)
        if free is None:
            out.append([s])
        else:
            free.append(s)
    return out


async def checked(answers: Sequence[Sequence[CheckedSentence]], by: OpinionBy) -> CheckedSet:
    """Have all answers checked, those of a server at once; a model that fails its exam marks nothing, as in a run."""
    result = await exam.passed(_run()) if by == "model" else None
    done = await asyncio.gather(*(_answer(answer, by, result) for answer in answers))
    rows = [{**row, "answer": n} for n, (found, _) in enumerate(done) for row in found]
    return CheckedSet(rows, [{"answer": n, **cost} for n, (_, cost) in enumerate(done)])


def _run() -> RunContext:
    return RunContext("check", Context(mode="llm"), TurnState(Meter()))


async def _answer(
    answer: Sequence[CheckedSentence], by: OpinionBy, result: exam.ExamResult | None
) -> tuple[list[Row], Row]:
    run, begun = _run(), time.perf_counter()
    question = " ".join(dict.fromkeys(s.question for s in answer))
    strips = _read(answer)
    numbers = {strip["id"]: n for n, strip in enumerate(strips, 1)}
    if by == "faithfulness":
        marks = await _faithful(run, question, answer)
    elif result is not None and not result.passed:
        marks = [NOT_CHECKED] * len(answer)
    else:
        said = [Claim(s.text, tuple(numbers[p["id"]] for p in s.named)) for s in answer]
        found = await check(run, question, said, [_source(strip) for strip in strips])
        marks = found.marks
    rows = [_row(s, mark, strips) for s, mark in zip(answer, marks, strict=True)]
    total = run.meter.spent
    cost: Row = {
        "calls": total.calls,
        "in": total.input_tokens,
        "out": total.output_tokens,
        "notes": run.notes,
    }
    if result is not None:
        cost["exam"] = result.right
    return rows, {**cost, "seconds": round(time.perf_counter() - begun, 4)}


def _read(answer: Sequence[CheckedSentence]) -> list[Strip]:
    """Return what the check reads: all that is named, then the best of what else was shown, newer documents first."""
    named = {strip["id"]: strip for s in answer for strip in s.named}
    known = {strip["id"]: strip for s in answer for strip in s.known if strip["id"] not in named}
    ranked = sorted(known.values(), key=lambda strip: not strip["id"].endswith(NEWER))
    chosen = {s.id for s in others([_source(s) for s in ranked], [_source(s) for s in named.values()])}
    return [*named.values(), *(strip for strip in ranked if strip["id"] in chosen)]


def _source(strip: Strip) -> CheckSource:
    date = "2031-12-01" if strip["id"].endswith(NEWER) else ""
    return CheckSource(strip["id"], strip["title"], strip["text"], date)


def _row(s: CheckedSentence, mark: Mark, strips: Sequence[Strip]) -> Row:
    files = [_file(strips[g.passage - 1]) for g in mark.rests]
    return {
        "id": s.id,
        "kind": s.kind,
        "text": s.text,
        "support": mark.support,
        "mended": bool(files) and all(file in s.home for file in files),
        "says": mark.against[0].text if mark.against else "",
        "why": mark.why,
    }


class StatementVerdict(BaseModel):
    """Whether a statement can be inferred from the context."""

    n: int
    reason: str = ""
    verdict: Literal[0, 1]


class StatementVerdicts(BaseModel):
    """One for each statement."""

    statements: list[StatementVerdict]


async def _faithful(run: RunContext, question: str, answer: Sequence[CheckedSentence]) -> list[Mark]:
    """Ask whether each sentence can be inferred from all that was retrieved, which is shown whole."""
    known = {strip["id"]: strip for s in answer for strip in (*s.named, *s.known)}
    context = "\n\n".join(quote(f"{strip['title']}\n{strip['text']}") for strip in known.values())
    statements = "\n".join(f"{n}. {s.text}" for n, s in enumerate(answer, 1))
    messages = load("faithfulness", room=PROMPTS, question=question, context=context, statements=statements)
    reply = await run.json(messages, StatementVerdicts, "check")
    inferred = {v.n for v in reply.statements if v.verdict} if reply is not None else set()
    return [Mark("verified" if n in inferred else "unverified") for n in range(1, len(answer) + 1)]


def passes(row: Row) -> bool:
    """Tell whether an error is shown as right.

    A true sentence with a wrong citation is mended if its citations hold it; one that a newer document denies
    has to be marked as disputed.
    """
    if row["kind"] == DISPUTED:
        return row["support"] not in ("disputed", "contradicted")
    return row["support"] in GOOD and not (row["kind"] == "citation" and row["mended"])


def measured(found: CheckedSet) -> dict[str, float]:
    """Return the figures: over all, of right sentences by how they are written, and of errors by kind."""
    right = [r for r in found.sentences if r["kind"].startswith(RIGHT)]
    told = [r for r in found.sentences if r["kind"] == DISPUTED]
    wrong = [r for r in found.sentences if not r["kind"].startswith(RIGHT) and r["kind"] != DISPUTED]
    passed, lost = sum(map(passes, wrong)), sum(r["support"] not in GOOD for r in right)
    out: dict[str, float] = {"right": len(right), "planted": len(wrong)}
    out["right not verified"] = lost / max(1, len(right))
    out["right not checked"] = sum(r["support"] == "unchecked" for r in right) / max(1, len(right))
    out["planted shown as right"] = passed / max(1, len(wrong))
    out["planted shown as right, at most"] = bound(passed, len(wrong))
    if told:
        out[f"disagreements told of {len(told)}"] = sum(not passes(r) for r in told)
    for kind, of in _by_kind(wrong).items():
        out[f"{kind}: caught of {len(of)}, bound {bound(sum(map(passes, of)), len(of)):.2f}"] = sum(
            not passes(r) for r in of
        )
    for kind, of in _by_kind(right).items():
        if kind != RIGHT:
            out[f"{kind}: kept of {len(of)}"] = sum(r["support"] in GOOD for r in of)
    for name, key in (("calls", "calls"), ("tokens in", "in"), ("tokens out", "out")):
        out[name] = sum(a[key] for a in found.answers)
    if exams := {a["exam"] for a in found.answers if "exam" in a}:
        out["exam: right of 40"] = min(exams)
    return {name: round(value, 4) for name, value in out.items()}


def _by_kind(rows: Sequence[Row]) -> dict[str, list[Row]]:
    out: dict[str, list[Row]] = {}
    for row in rows:
        out.setdefault(row["kind"], []).append(row)
    return out


def bound(errors: int, of: int) -> float:
    """Return the largest rate that so few errors of so many allow, with 95 % confidence (Clopper and Pearson 1934)."""
    low, high = errors / of if of else 1.0, 1.0
    for _ in range(40):
        rate = (low + high) / 2
        few = sum(math.comb(of, k) * rate**k * (1 - rate) ** (of - k) for k in range(errors + 1))
        low, high = (rate, high) if few > 1 - _CONFIDENCE else (low, rate)
    return high


def write(found: CheckedSet, out: Path) -> None:
    """Write what became of each sentence and answer as JSON Lines."""
    lines = [json.dumps(row, ensure_ascii=False) for row in (*found.sentences, *found.answers)]
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(kept: Sequence[Path]) -> CheckedSet:
    """Read what was written."""
    rows = [
        json.loads(line) for path in kept for line in path.read_text(encoding="utf-8").splitlines() if line
    ]
    return CheckedSet([r for r in rows if "kind" in r], [r for r in rows if "kind" not in r])


async def cases(
    folder: Path, library: str, answers: Path | None, right: int, wrong: int, each: int
) -> list[list[CheckedSentence]]:
    """Return the answers of a set: `right` sentences and `wrong` planted ones, of others if there are enough."""
    held = await right_sentences(folder, library, answers)
    kept, rest = held[:right], held[right:]
    kinds = {**KINDS, **MEANINGS}
    made = planted(rest if len(rest) >= wrong else held, wrong, kinds)
    if len(made) < wrong:
        made += [s for s in planted(held, 2 * wrong, kinds) if s.id not in {m.id for m in made}][
            : wrong - len(made)
        ]
    return grouped(kept, made, each)


def written() -> list[list[CheckedSentence]]:
    """Return the written answers, each with its own passages."""
    rows = json.loads(WRITTEN.read_text(encoding="utf-8"))
    return [_written(f"written-{n}", ExamCase.model_validate(row)) for n, row in enumerate(rows)]


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
        named = tuple(strips[i - 1] for i in item.cites)
        home = tuple(_file(strip) for strip in named)
        out.append(CheckedSentence(f"{name}:{n}", kind, item.text, case.question, named, tuple(strips), home))
    return out
