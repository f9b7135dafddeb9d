"""CRAG in small: how plain RAG, CRAG and the agent answer when retrieval fails.

There are twenty questions over one library of sixty passages (records/crag.jsonl). Each question has a
passage that answers and two near misses. Each of five steps removes a larger share of the passages that
answer. A third near miss replaces each of them: an older edition with another value, a subject of nearly the
same name, or another fact of the same subject. A folder of pages replaces the web: three quarters of the
questions have a page that answers, and each has one that does not.
"""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragweave.evals.claims.common import ClaimReport, Given, Row, drawing, gain, lookup, save
from ragweave.evals.claims.played import (
    ClaimRecord,
    Run,
    first_by_digest,
    kept_note,
    replayed,
    stroke,
    verdict,
)

NAME = "crag"
STEPS = (0, 25, 50, 75, 100)
"""Percentages of the passages that answer that a step removes."""
WEB_SHARE = 0.75
SHOWN = 5
ARMS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "plain RAG": ("plain", {}),
    "CRAG, head grades": ("crag", {"preset": "crag-paper", "web": "auto"}),
    "CRAG, model grades": ("crag", {"preset": "crag-paper", "grade_by": "llm", "web": "auto"}),
    "agent, web off": ("agent", {"check_by": "off"}),
    "agent, web on": ("agent", {"check_by": "off", "web": "auto"}),
    "agent, model grades": ("agent", {"check_by": "off", "grade_by": "llm", "web": "auto"}),
}
"""Graph and knobs of each arm."""
BASE, *OTHERS = ARMS
"""Plain RAG, and the arms that the report compares with it."""
LEFT_OUT = ("share of wrong",)
"""What the short report leaves out."""
VERDICTS = ("right", "wrong", "declined")
Verdicts = Mapping[str, Mapping[int, Sequence[str]]]
"""Verdicts by arm and step, in the order of the questions."""


def _ids(questions: Sequence[Row]) -> list[str]:
    """Return the ids of questions."""
    return [row["id"] for row in questions]


def passages(questions: Sequence[Row], step: int) -> list[Row]:
    """Return the library of a step."""
    order = first_by_digest(_ids(questions))
    removed = set(order[: len(order) * step // 100])
    out = []
    for row in questions:
        first = row["instead"] if row["id"] in removed else row["gold"]
        for n, text in enumerate([first, *row["near"]]):
            out.append({"id": f"{row['id']}-{n}", **text})
    return out


def write_pages(questions: Sequence[Row], folder: Path) -> Path:
    """Write the pages that replace the web; return their folder."""
    order = first_by_digest(_ids(questions), "web")
    with_answer = set(order[: round(len(order) * WEB_SHARE)])
    folder.mkdir(parents=True, exist_ok=True)
    for row in questions:
        for kind in ("page", "other"):
            if kind == "page" and row["id"] not in with_answer:
                continue
            title, text = html.escape(row[kind]["title"]), html.escape(row[kind]["text"])
            at = f"https://{kind}.example.org/{row['id']}"
            (folder / f"{row['id']}-{kind}.html").write_text(
                f'<html><head><title>{title}</title><link rel="canonical" href="{at}"></head>'
                f"<body><h1>{title}</h1><p>{text}</p></body></html>",
                encoding="utf-8",
            )
    return folder


async def runs(record: ClaimRecord, work: Path, steps: Sequence[int] = STEPS) -> list[Run]:
    """Index the library of each step, replace the web by the pages, and return all runs."""
    from ragweave.corpora.settings import corpora_settings
    from ragweave.evals.corpus import prepare

    questions = record.of("question")
    os.environ["RAGWEAVE_WEB_FOLDER"] = str(write_pages(questions, work / "crag-web"))
    corpora_settings.cache_clear()
    out = []
    for step in steps:
        library = (await prepare(passages(questions, step), f"crag-{step}", work)).library.name
        for arm, (graph, knobs) in ARMS.items():
            context = {"library": library, "top_k": SHOWN, **knobs}
            for row in questions:
                out.append(Run(f"{arm}/{step}/{row['id']}", row["question"], graph, context))
    return out


def judged(record: ClaimRecord, outcomes: Sequence[Row]) -> dict[str, dict[int, list[str]]]:
    """Return the verdicts by arm and step, in the order of the questions."""
    answers = lookup(record.of("question"), "id", "answers")
    out: dict[str, dict[int, list[str]]] = {}
    for arm in ARMS:
        out[arm] = {}
        for step in STEPS:
            out[arm][step] = []
    for row in outcomes:
        arm, step, id = row["run"].split("/")
        out[arm][int(step)].append(verdict(row, answers[id]))
    return out


def report(record: ClaimRecord, outcomes: Sequence[Row], changed: int = 0) -> ClaimReport:
    """Return right, wrong and declined at each step, and what each arm keeps of its right answers."""
    found = judged(record, outcomes)
    count = len(record.of("question"))
    heads = ""
    for step in STEPS:
        percent = f"{step} %"
        heads += f"{percent:>12}"
    lines = [f"{count} questions a step; right / wrong / declined with so many passages that answer removed"]
    lines += ["", f"{'':22}{heads}"]
    figures: dict[str, float] = {}
    for arm, steps in found.items():
        cells = ""
        for step, verdicts in steps.items():
            cells += f"{_counts(verdicts):>12}"
            for kind in VERDICTS:
                figures[f"{arm}, {step} %, {kind}"] = verdicts.count(kind)
        lines.append(f"{arm:22}{cells}")
    lines += [
        "",
        "share of right answers over all steps, less plain RAG, with its 95 % interval (paired bootstrap)",
    ]
    lines += _gains(found, "right")
    lines += ["", "share of wrong answers over all steps, less plain RAG"]
    lines += _gains(found, "wrong")
    lines += ["", "right / wrong / declined at 100 %, by what took the place of the passage"]
    lines += _by_kind(record, found)
    lines += ["", _again(record), "", kept_note(len(outcomes), changed)]
    return ClaimReport("\n".join(lines), figures, lambda path: draw(found, path))


def _again(record: ClaimRecord) -> str:
    """Say how often replies of the evaluator that were written a second time, blind, have the same best."""
    rows = record.of("blind")
    same = 0
    for row in rows:
        same += _best(row["text"]) == _best(record.kept[row["key"]])
    asked = f"{len(rows)} of the evaluator's prompts were answered a second time, blind"
    return f"{asked}: the best verdict is the same in {same}."


def _best(reply: str) -> float:
    """Return the score of the best verdict in a reply of the evaluator."""
    from ragweave.components.grade import VALUE, PassageVerdicts
    from ragweave.models.chat_json import read_json

    found = read_json(reply, PassageVerdicts)
    return max(VALUE[row.verdict] for row in found.verdicts) if found else 0.0


def _counts(verdicts: Sequence[str]) -> str:
    """Return the numbers of right, wrong and declined answers."""
    counts = [str(verdicts.count(kind)) for kind in VERDICTS]
    return "/".join(counts)


def _gains(found: Verdicts, kind: str) -> list[str]:
    """Return the difference of each arm to plain RAG in the share of a verdict."""
    base = _mean(found[BASE], kind)
    lines = []
    for arm in OTHERS:
        lines.append(f"{arm:22}{gain(base, _mean(found[arm], kind))}")
    return lines


def _mean(steps: Mapping[int, Sequence[str]], kind: str) -> list[float]:
    """Return the share of a verdict over all steps, by question, so that the interval resamples questions."""
    return _shares(zip(*steps.values(), strict=True), kind)


def _shares(groups: Iterable[Sequence[str]], kind: str) -> list[float]:
    """Return the share of a verdict in each group of verdicts."""
    return [verdicts.count(kind) / len(verdicts) for verdicts in groups]


def _by_kind(record: ClaimRecord, found: Verdicts) -> list[str]:
    """Return right, wrong and declined at the last step by the kind of near miss."""
    kinds = [row["kind"] for row in record.of("question")]
    names = list(dict.fromkeys(kinds))
    heads = ""
    for name in names:
        head = f"{name} ({kinds.count(name)})"
        heads += f"{head:>16}"
    lines = [f"{'':22}{heads}"]
    for arm, steps in found.items():
        by_kind: dict[str, list[str]] = {}
        for of_question, kind in zip(steps[STEPS[-1]], kinds, strict=True):
            by_kind.setdefault(kind, []).append(of_question)
        cells = ""
        for name in names:
            cells += f"{_counts(by_kind[name]):>16}"
        lines.append(f"{arm:22}{cells}")
    return lines


def draw(found: Verdicts, path: Path) -> None:
    """Draw the share of each verdict at each step, a panel for each verdict."""
    figure, axes = drawing(3, (11, 4))
    for axis, kind in zip(axes, VERDICTS, strict=True):
        for n, (arm, steps) in enumerate(found.items()):
            axis.plot(STEPS, _shares(steps.values(), kind), label=arm, **stroke(n))
        axis.set(title=kind, ylim=(-0.03, 1.03), xticks=STEPS, xlabel="% of gold passages removed")
    axes[-1].legend(fontsize="small")
    save(figure, path)


async def claim(given: Given) -> ClaimReport:
    """Run all arms again with the recorded replies, and report."""
    return await replayed(NAME, given, runs, report)
