"""How often the check keeps a right sentence and catches a wrong one: `ragweave eval check --set FOLDER`.

Right sentences are those of kept answers that hold an accepted answer, with what they cite; without answers they are
sentences of the library itself, told under their title. Errors are planted into others of them (`evals/planting.py`).
They are put together into answers of a few sentences, which the product's own answer builder takes.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from ragweave.components.answer_builder import AnswerBuilder, Claim
from ragweave.components.context import Context
from ragweave.components.evidence import Citation, Sentence, Strip
from ragweave.components.knowledge import CheckResult, Opinion
from ragweave.components.llm.check import check as opinion_of
from ragweave.components.local.check import check as local_check
from ragweave.components.passages import as_strip, best_sentence
from ragweave.components.run_context import RunContext, TurnState
from ragweave.evals.data import read_jsonl
from ragweave.evals.planting import RIGHT, CheckedSentence, digest, planted
from ragweave.graphs.run import asearch
from ragweave.models.errors import InputError
from ragweave.models.meter import Meter
from ragweave.models.text import sentences
from ragweave.prompts import load, quote

OpinionBy = Literal["none", "scripted", "model", "alone", "faithfulness"]
"""Who gives a second opinion. `alone` is the model without the local check, `faithfulness` the prompt of RAGAS's kind:
a verdict for each sentence against all that was retrieved (Es et al. 2024, section 3)."""
_ASKED = ("model", "alone", "faithfulness")
PROMPTS = "ragweave.evals.prompts"
SHOWN = 8
"""Passages that the writer of an answer is taken to have been shown."""
_MARKS = re.compile(r"\s*(?:\[\d+\]|\(unverified\))")

Row = dict[str, Any]
"""What became of one sentence; plain data, as it is kept in records."""


@dataclass(frozen=True)
class Checked:
    """Rows of all sentences, and one of each answer: calls, tokens, seconds."""

    sentences: list[Row]
    answers: list[Row]


async def right_sentences(folder: Path, library: str, answers: Path | None) -> list[CheckedSentence]:
    """Return the right sentences of a set, in the order of their digests."""
    questions = {str(q["id"]): q for q in read_jsonl(folder / "questions.jsonl", ["id", "question"])}
    made = await _of_library(questions, library) if answers is None else await _of_answers(questions, library, answers)
    if not made:
        raise InputError(f"{answers or folder} holds no right sentence", "name answers to questions of this set")
    return sorted(made, key=lambda s: digest(s.id))


async def _of_answers(questions: Mapping[str, Mapping[str, Any]], library: str, answers: Path) -> list[CheckedSentence]:
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
            told = CheckedSentence(f"{q['id']}:{n}", RIGHT, plain[a:b], asked, tuple(named), tuple(known), home)
            out += [told] if named else []
    return out


async def _of_library(questions: Mapping[str, Mapping[str, Any]], library: str) -> list[CheckedSentence]:
    """Return for each question the nearest sentence of the best passage, told under its title."""
    out = []
    for q in questions.values():
        found = [as_strip(e) for e in await asearch(q["question"], context=Context(library=library, mode="extractive"))]
        if found:
            said = " ".join(best_sentence(q["question"], found[0]["text"]).split()).rstrip(".")
            told = f"By “{found[0]['title']}”, {said}."
            home = (_file(found[0]),)
            out.append(
                CheckedSentence(f"{q['id']}:0", RIGHT, told, q["question"], (found[0],), tuple(found[:SHOWN]), home)
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


async def checked(answers: Sequence[Sequence[CheckedSentence]], by: OpinionBy) -> Checked:
    """Have answers taken by the answer builder: a model is asked for all at once, else they are timed one by one."""
    rows: list[Row] = []
    spent: list[Row] = []
    together = [_answer(answer, by) for answer in answers]
    done = await asyncio.gather(*together) if by in _ASKED else [await one for one in together]
    for n, (found, cost) in enumerate(done):
        rows += [{**row, "answer": n} for row in found]
        spent.append({"answer": n, **cost})
    return Checked(rows, spent)


async def _answer(answer: Sequence[CheckedSentence], by: OpinionBy) -> tuple[list[Row], Row]:
    run = RunContext("check", Context(mode="llm" if by in _ASKED else "auto"), TurnState(Meter()))
    shown: dict[int, float] = {}
    marked: dict[int, float] = {}
    question = " ".join(dict.fromkeys(s.question for s in answer))
    of = {s.text: s for s in answer}
    begun = time.perf_counter()

    async def check(text: str, strips: Sequence[Strip]) -> CheckResult:
        if by in ("alone", "faithfulness"):
            return CheckResult(False, 0.0, (), "Not looked at")
        return await local_check(run, text, strips, of[text].question)

    async def second(claims: Sequence[Claim]) -> list[Opinion]:
        if by == "faithfulness":
            return await _faithful(run, question, claims)
        if by in _ASKED:
            opinions = await opinion_of(run, question, claims)
            return opinions or [Opinion("unverified") for c in claims if c.doubted]
        return [_scripted(of[c.text], c) for c in claims if c.doubted]

    def emit(sentence: Sentence, _: list[Citation]) -> None:
        shown[len(shown) + 1] = time.perf_counter() - begun
        if sentence.support != "pending":
            marked[len(shown)] = shown[len(shown)]

    def mark(n: int, *_: Any) -> None:
        marked[n] = time.perf_counter() - begun

    rows = {s["evidence"]: {**s, "id": s["evidence"], "date": "", "also": []} for a in answer for s in a.known}
    builder = AnswerBuilder(check, emit, rows, {}, None if by == "none" else second, mark)  # type: ignore[arg-type]
    for s in answer:
        await builder.tell(s.text, s.named, s.known)
    at = {s.text: n for n, s in enumerate(answer, 1)}
    first = list(builder.sentences)
    await builder.close()
    citations = {c.n: c for c in builder.citations}
    found = []
    for s in answer:
        n = at[s.text]
        sentence = builder.sentences[n - 1]
        files = [citations[c].locator.get("file", "") for c in sentence.citations]
        found.append(
            {
                "id": s.id,
                "kind": s.kind,
                "text": s.text,
                "local": first[n - 1].support if first[n - 1].support != "pending" else "doubted",
                "support": sentence.support,
                "mended": bool(files) and all(f in s.home for f in files),
                "says": sentence.says,
                "first": round(shown[n], 4),
                "marked": round(marked[n], 4),
            }
        )
    total = run.meter.spent
    cost = {"calls": total.calls, "in": total.input_tokens, "out": total.output_tokens, "notes": run.notes}
    return found, {**cost, "seconds": round(time.perf_counter() - begun, 4)}


class StatementVerdict(BaseModel):
    """Whether a statement can be inferred from the context."""

    n: int
    reason: str = ""
    verdict: Literal[0, 1]


class StatementVerdicts(BaseModel):
    """One for each statement."""

    statements: list[StatementVerdict]


async def _faithful(run: RunContext, question: str, claims: Sequence[Claim]) -> list[Opinion]:
    """Ask whether each sentence can be inferred from all that was retrieved, which is shown whole."""
    known = {s["id"]: s for c in claims for s in (*c.named, *c.known)}
    context = "\n\n".join(quote(f"{s['title']}\n{s['text']}") for s in known.values())
    statements = "\n".join(f"{n}. {c.text}" for n, c in enumerate(claims, 1))
    messages = load("faithfulness", room=PROMPTS, question=question, context=context, statements=statements)
    reply = await run.json(messages, StatementVerdicts)
    inferred = {v.n for v in reply.statements if v.verdict} if reply is not None else set()
    return [
        Opinion("verified" if n in inferred else "unverified", c.rests) for n, c in enumerate(claims, 1) if c.doubted
    ]


def _scripted(s: CheckedSentence, claim: Claim) -> Opinion:
    """Judge as a model that makes no mistake: it shows what reaches it, and what does not."""
    if s.kind == RIGHT:
        return Opinion("verified", claim.rests)
    home = next((p for p in claim.known if _file(p) in s.home), None)
    if s.kind == "citation" and home is not None:
        return Opinion("verified", ((home, home["text"]),))
    return Opinion("contradicted", claim.rests)


def passes(row: Row) -> bool:
    """Tell whether an error is shown as verified; a true sentence is mended where its citations hold it."""
    return row["support"] == "verified" and not (row["kind"] == "citation" and row["mended"])


def measured(found: Checked) -> dict[str, float]:
    """Return the figures, by kind of error and over all."""
    right = [r for r in found.sentences if r["kind"] == RIGHT]
    wrong = [r for r in found.sentences if r["kind"] != RIGHT]
    out: dict[str, float] = {"right": len(right), "planted": len(wrong)}
    out["right marked"] = sum(r["support"] != "verified" for r in right) / max(1, len(right))
    out["planted shown as verified"] = sum(map(passes, wrong)) / max(1, len(wrong))
    out["planted caught"] = 1 - out["planted shown as verified"] if wrong else 0.0
    for kind in dict.fromkeys(r["kind"] for r in wrong):
        of = [r for r in wrong if r["kind"] == kind]
        out[f"{kind}: caught of {len(of)}"] = sum(not passes(r) for r in of)
    out["right verified without a model"] = sum(r["local"] == "verified" for r in right) / max(1, len(right))
    alone = [r for r in wrong if r["local"] == "verified" and passes(r)]
    out["planted verified without a model"] = len(alone) / max(1, len(wrong))
    out["calls"] = sum(a["calls"] for a in found.answers)
    out["tokens in"] = sum(a["in"] for a in found.answers)
    out["tokens out"] = sum(a["out"] for a in found.answers)
    out["seconds until a sentence"] = _mean([r["first"] for r in found.sentences])
    out["seconds until its mark"] = _mean([r["marked"] for r in found.sentences])
    return {name: round(value, 4) for name, value in out.items()}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def write(found: Checked, out: Path) -> None:
    """Write what became of each sentence and answer as JSON Lines."""
    lines = [json.dumps(row, ensure_ascii=False) for row in (*found.sentences, *found.answers)]
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(kept: Sequence[Path]) -> Checked:
    """Read what was written."""
    rows = [json.loads(line) for path in kept for line in path.read_text(encoding="utf-8").splitlines() if line]
    return Checked([r for r in rows if "kind" in r], [r for r in rows if "kind" not in r])


async def cases(
    folder: Path, library: str, answers: Path | None, right: int, wrong: int, each: int
) -> list[list[CheckedSentence]]:
    """Return the answers of a set: `right` sentences and `wrong` planted ones, of others where there are enough."""
    held = await right_sentences(folder, library, answers)
    kept, rest = held[:right], held[right:]
    made = planted(rest if len(rest) >= wrong else held, wrong)
    if len(made) < wrong:
        made += [s for s in planted(held, 2 * wrong) if s.id not in {m.id for m in made}][: wrong - len(made)]
    return grouped(kept, made, each)
