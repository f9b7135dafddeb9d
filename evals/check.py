"""Measure how often the check keeps a right sentence and catches a wrong one: `ragweave eval check`.

With `--set`, right sentences come from recorded answers that hold an accepted answer, with the passages that
they cite. Without recorded answers they are sentences of the library, attributed to their title. Errors are
planted into other right sentences (`evals/planting.py`, `evals/planting_meanings.py`). Without a set, the
sentences are hand-written: they have kinds of error that no rule can make, and right sentences as a good
model writes them. `evals/check_answers.py` groups the sentences into short answers, and the product's own
check judges those.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from ragweave.components import exam
from ragweave.components.check import NOT_CHECKED, CheckSource, Claim, Mark, check, others
from ragweave.components.context import Context
from ragweave.components.evidence import Strip
from ragweave.components.run_context import RunContext, TurnState
from ragweave.evals.planting import RIGHT, CheckedSentence
from ragweave.evals.planting_meanings import NEWER
from ragweave.models.meter import Meter
from ragweave.prompts import load, quote

OpinionBy = Literal["model", "faithfulness"]
"""Who judges: the product's check, or a prompt in the manner of RAGAS.

The prompt gives a verdict for each sentence against all retrieved passages (Es et al. 2024, section 3).
"""
PROMPTS = "ragweave.evals.prompts"
GOOD = ("verified", "follows")
"""Marks with which a reader trusts a sentence."""
DISPUTED = "older document"
"""Kind of a sentence that an older document says and a newer one denies."""
_CONFIDENCE = 0.95

Row = dict[str, Any]
"""The result for one sentence or answer; plain data, as records store it."""


@dataclass(frozen=True)
class CheckedSet:
    """A row for each sentence, and a row for each answer with its calls, tokens and seconds."""

    sentences: list[Row]
    answers: list[Row]


async def checked(answers: Sequence[Sequence[CheckedSentence]], by: OpinionBy) -> CheckedSet:
    """Check all answers at the same time; a model that fails its exam marks nothing, as in a run."""
    result = await exam.passed(_run()) if by == "model" else None
    judging = [_answer(answer, by, result) for answer in answers]
    done = await asyncio.gather(*judging)
    found = CheckedSet([], [])
    for n, (rows, cost) in enumerate(done):
        for row in rows:
            found.sentences.append({**row, "answer": n})
        found.answers.append({"answer": n, **cost})
    return found


def _run() -> RunContext:
    return RunContext("check", Context(mode="llm"), TurnState(Meter()))


async def _answer(
    answer: Sequence[CheckedSentence], by: OpinionBy, result: exam.ExamResult | None
) -> tuple[list[Row], Row]:
    """Return the rows of the sentences of one answer, and its costs."""
    run, begun = _run(), time.perf_counter()
    questions: dict[str, None] = {}
    for sentence in answer:
        questions[sentence.question] = None
    question = " ".join(questions)
    strips = _passages(answer)
    if by == "faithfulness":
        marks = await _faithful(run, question, answer)
    elif result is not None and not result.passed:
        marks = [NOT_CHECKED] * len(answer)
    else:
        found = await check(run, question, _claims(answer, strips), list(map(_source, strips)))
        marks = found.marks
    rows = []
    for sentence, mark in zip(answer, marks, strict=True):
        rows.append(_row(sentence, mark, strips))
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


def _claims(answer: Sequence[CheckedSentence], strips: Sequence[Strip]) -> list[Claim]:
    """Return the sentences of an answer with the numbers of the passages that they cite."""
    numbers = {}
    for n, strip in enumerate(strips, 1):
        numbers[strip["id"]] = n
    claims = []
    for sentence in answer:
        cited = [numbers[strip["id"]] for strip in sentence.named]
        claims.append(Claim(sentence.text, tuple(cited)))
    return claims


def _passages(answer: Sequence[CheckedSentence]) -> list[Strip]:
    """Return the passages for the check: all cited ones, then the best others, newer documents first."""
    named: dict[str, Strip] = {}
    for sentence in answer:
        for strip in sentence.named:
            named[strip["id"]] = strip
    known: dict[str, Strip] = {}
    for sentence in answer:
        for strip in sentence.known:
            if strip["id"] not in named:
                known[strip["id"]] = strip
    ranked = sorted(known.values(), key=lambda strip: not strip["id"].endswith(NEWER))
    chosen = set()
    for source in others(list(map(_source, ranked)), list(map(_source, named.values()))):
        chosen.add(source.id)
    out = list(named.values())
    for strip in ranked:
        if strip["id"] in chosen:
            out.append(strip)
    return out


def _source(strip: Strip) -> CheckSource:
    date = "2031-12-01" if strip["id"].endswith(NEWER) else ""
    return CheckSource(strip["id"], strip["title"], strip["text"], date)


def _row(sentence: CheckedSentence, mark: Mark, strips: Sequence[Strip]) -> Row:
    files = set()
    for ground in mark.rests:
        files.add(strips[ground.passage - 1]["locator"].get("file", ""))
    return {
        "id": sentence.id,
        "kind": sentence.kind,
        "text": sentence.text,
        "support": mark.support,
        "mended": bool(files) and files <= set(sentence.home),
        "says": mark.against[0].text if mark.against else "",
        "why": mark.why,
    }


class StatementVerdict(BaseModel):
    """Whether a statement can be inferred from the context."""

    n: int
    reason: str = ""
    verdict: Literal[0, 1]


class StatementVerdicts(BaseModel):
    """A verdict for each statement."""

    statements: list[StatementVerdict]


async def _faithful(run: RunContext, question: str, answer: Sequence[CheckedSentence]) -> list[Mark]:
    """Ask whether each sentence can be inferred from all retrieved passages, shown whole."""
    known: dict[str, Strip] = {}
    for sentence in answer:
        for strip in (*sentence.named, *sentence.known):
            known[strip["id"]] = strip
    shown = [quote(f"{strip['title']}\n{strip['text']}") for strip in known.values()]
    numbered = [f"{n}. {sentence.text}" for n, sentence in enumerate(answer, 1)]
    messages = load(
        "faithfulness",
        room=PROMPTS,
        question=question,
        context="\n\n".join(shown),
        statements="\n".join(numbered),
    )
    reply = await run.json(messages, StatementVerdicts, "check")
    inferred = set()
    if reply is not None:
        for verdict in reply.statements:
            if verdict.verdict:
                inferred.add(verdict.n)
    marks = []
    for n in range(1, len(answer) + 1):
        marks.append(Mark("verified" if n in inferred else "unverified"))
    return marks


def passes(row: Row) -> bool:
    """Return whether an error is shown as right.

    A true sentence with a wrong citation counts as corrected if the new citations are right. A sentence that
    a newer document denies has to be marked as disputed.
    """
    if row["kind"] == DISPUTED:
        return row["support"] not in ("disputed", "contradicted")
    if row["kind"] == "citation" and row["mended"]:
        return False
    return row["support"] in GOOD


def measured(found: CheckedSet) -> dict[str, float]:
    """Return the figures of all sentences, of each style of right sentences, and of each kind of error."""
    right, wrong, disputed = _sorted(found.sentences)
    passed = sum(map(passes, wrong))
    out: dict[str, float] = {"right": len(right), "planted": len(wrong)}
    out["right not verified"] = (len(right) - _trusted(right)) / max(1, len(right))
    out["right not checked"] = _unchecked(right) / max(1, len(right))
    out["planted shown as right"] = passed / max(1, len(wrong))
    out["planted shown as right, at most"] = bound(passed, len(wrong))
    if disputed:
        out[f"disagreements told of {len(disputed)}"] = len(disputed) - sum(map(passes, disputed))
    for kind, rows in _by_kind(wrong).items():
        missed = sum(map(passes, rows))
        out[f"{kind}: caught of {len(rows)}, bound {bound(missed, len(rows)):.2f}"] = len(rows) - missed
    for kind, rows in _by_kind(right).items():
        if kind != RIGHT:
            out[f"{kind}: kept of {len(rows)}"] = _trusted(rows)
    for name, key in (("calls", "calls"), ("tokens in", "in"), ("tokens out", "out")):
        out[name] = 0
        for answer in found.answers:
            out[name] += answer[key]
    exams = []
    for answer in found.answers:
        if answer.get("exam") is not None:
            exams.append(answer["exam"])
    if exams:
        out["exam: right of 40"] = min(exams)
    for name, value in out.items():
        out[name] = round(value, 4)
    return out


def _sorted(rows: Sequence[Row]) -> tuple[list[Row], list[Row], list[Row]]:
    """Return the right sentences, the wrong ones, and the disputed ones."""
    right, wrong, disputed = [], [], []
    for row in rows:
        if row["kind"] == DISPUTED:
            disputed.append(row)
        elif row["kind"].startswith(RIGHT):
            right.append(row)
        else:
            wrong.append(row)
    return right, wrong, disputed


def _trusted(rows: Sequence[Row]) -> int:
    """Return how many rows have a mark that a reader trusts."""
    trusted = 0
    for row in rows:
        trusted += row["support"] in GOOD
    return trusted


def _unchecked(rows: Sequence[Row]) -> int:
    unchecked = 0
    for row in rows:
        unchecked += row["support"] == "unchecked"
    return unchecked


def _by_kind(rows: Sequence[Row]) -> dict[str, list[Row]]:
    out: dict[str, list[Row]] = {}
    for row in rows:
        out.setdefault(row["kind"], []).append(row)
    return out


def bound(errors: int, of: int) -> float:
    """Return the upper end of the 95 % interval of an error rate (Clopper and Pearson 1934)."""
    low, high = errors / of if of else 1.0, 1.0
    for _ in range(40):
        rate = (low + high) / 2
        at_most = 0.0
        for k in range(errors + 1):
            at_most += math.comb(of, k) * rate**k * (1 - rate) ** (of - k)
        if at_most > 1 - _CONFIDENCE:
            low = rate
        else:
            high = rate
    return high


def write(found: CheckedSet, out: Path) -> None:
    """Write the rows of sentences and answers as JSON Lines."""
    lines = []
    for row in (*found.sentences, *found.answers):
        lines.append(json.dumps(row, ensure_ascii=False))
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(files: Sequence[Path]) -> CheckedSet:
    """Read the rows that `write` wrote."""
    found = CheckedSet([], [])
    for path in files:
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line:
                continue
            row = json.loads(line)
            if "kind" in row:
                found.sentences.append(row)
            else:
                found.answers.append(row)
    return found
