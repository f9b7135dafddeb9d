"""Ablation and frontier: what each node adds, and what each graph gives for its time (one data set, paired)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ragweave.corpora.store.library import open_library
from ragweave.evals.answers import Outcome, Question, ask_all, figures, question_of
from ragweave.evals.bootstrap import paired
from ragweave.evals.data import read_jsonl
from ragweave.evals.off import Off, without
from ragweave.evals.report import drawing, save_drawing
from ragweave.evals.runner import Runner
from ragweave.graphs.base import through
from ragweave.minds.context import Context

FULL = "everything"


def public_set(data: Path, each: int) -> tuple[list[dict[str, Any]], list[Question]]:
    """Return passages and questions: one fact, two facts, and absent ones whose passage is left out of the index.

    Args:
        data: folder of the public data sets.
        each: questions of XQuAD and of HotpotQA; half as many are absent.
    """
    xquad = read_jsonl(data / "squad_xquad_en/queries.jsonl", ["id", "question", "answers", "gold"])
    hotpot = read_jsonl(data / "multihop_hotpotqa/queries.jsonl", ["id", "question", "answers", "gold"])
    # A passage that is taken away answers none of the questions that are kept.
    step = max(1, len(xquad) // (each // 2 or 1))
    hidden = xquad[::step][: each // 2]
    gone = {str(g) for q in hidden for g in q["gold"]}
    kept = [q for q in xquad if not gone & {str(g) for g in q["gold"]}]
    asked = [question_of(q, "one fact") for q in kept[:: max(1, len(kept) // each)][:each]]
    asked += [question_of(q, "two facts") for q in hotpot[:each]]
    asked += [question_of({"id": q["id"], "question": q["question"]}, "absent", answerable=False) for q in hidden]
    passages = [
        *read_jsonl(data / "squad_xquad_en/passages.jsonl", ["id", "text"]),
        *read_jsonl(data / "multihop_hotpotqa/corpus.jsonl", ["id", "text"]),
    ]
    return [p for p in passages if str(p["id"]) not in gone], asked


@dataclass(frozen=True)
class Bench:
    """What every run of a comparison shares.

    Attributes:
        questions: asked in every run.
        context: knobs of every run.
        name_of: what a cited file is called among the gold names.
        runner: asks the conversations.
    """

    questions: Sequence[Question]
    context: Context
    name_of: Callable[[str], str]
    runner: Runner

    async def ask(self, name: str, build: Callable[[], Any], off: Sequence[Off] = (), **knobs: Any) -> list[Outcome]:
        """Ask every question of one graph, without the nodes that are off."""
        context = Context(**{**self.context.model_dump(exclude_unset=True), **knobs})
        held = await (await open_library(context.library)).about()
        with through(without(off)):
            return await ask_all(
                build,
                self.questions,
                context,
                name_of=self.name_of,
                runner=self.runner,
                name=name,
                of={"library": asdict(held), "off": list(off)},
            )


async def ablate(bench: Bench, build: Callable[[], Any], off: Sequence[Off]) -> dict[str, list[Outcome]]:
    """Ask the whole graph, then the graph without each of the nodes in turn."""
    out = {FULL: await bench.ask(FULL, build)}
    for node in off:
        out[f"without {node}"] = await bench.ask(f"without {node}", build, [node])
    return out


COLUMNS = (
    "run",
    "correct",
    "wrong",
    "abstained",
    "citations",
    "ms",
    "calls",
    "correct, difference",
    "wrong, difference",
)


def rows_of(runs: Mapping[str, Sequence[Outcome]]) -> list[list[str | float | int]]:
    """Return a table row per run, with paired differences of correct and of wrong answers from the whole graph."""
    rows: list[list[str | float | int]] = []
    for name, outcomes in runs.items():
        f = figures(outcomes)
        gaps = ["-", "-"]
        if name != FULL:
            gaps = [difference(runs[FULL], outcomes, verdict) for verdict in ("correct", "wrong")]
        rows.append(
            [
                name,
                f["answered_correct"],
                f["answered_wrong"],
                f["abstained"],
                f["citation_precision"],
                f["ms_per_question"],
                f["model_calls_per_question"],
                *gaps,
            ]
        )
    return rows


def difference(before: Sequence[Outcome], after: Sequence[Outcome], verdict: str) -> str:
    """Return the paired difference of the share of one verdict, with its interval."""
    a, b = ([float(o.verdict == verdict) for o in outcomes] for outcomes in (before, after))
    found = paired(a, b)
    return f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


def flat(runs: Mapping[str, Sequence[Outcome]]) -> dict[str, float]:
    """Return the figures of every run under flat keys, the whole graph's without a suffix."""
    out: dict[str, float] = {}
    for name, outcomes in runs.items():
        suffix = "" if name == FULL else "_" + name.replace(" ", "_")
        out |= {f"{k}{suffix}": v for k, v in figures(outcomes).items()}
        if suffix:
            before, after = ([float(o.verdict == "correct") for o in r] for r in (runs[FULL], outcomes))
            gap = paired(before, after)
            out |= {f"difference{suffix}": round(gap.mean, 4)}
            out |= {f"difference{suffix}_low": round(gap.low, 4), f"difference{suffix}_high": round(gap.high, 4)}
    return out


@dataclass(frozen=True)
class Point:
    """One place on a graph's frontier.

    Attributes:
        abstained: share of all questions.
        correct: share of all questions that are answered correctly.
        wrong: share of all questions that are answered wrongly.
    """

    abstained: float
    correct: float
    wrong: float


def sweep(outcomes: Sequence[Outcome]) -> list[Point]:
    """Return what follows when answers below a confidence are held back, for every confidence; fewest abstained first.

    What a graph withholds by itself stays withheld, so that the curve begins at its own share of abstentions.
    """
    cuts = sorted({o.answer.confidence for o in outcomes if not o.answer.abstained})
    points = []
    for cut in [0.0, *(c + 1e-9 for c in cuts)]:
        shown = [o for o in outcomes if not o.answer.abstained and o.answer.confidence >= cut]
        right = sum(o.verdict == "correct" for o in shown) / len(outcomes)
        points.append(Point(1 - len(shown) / len(outcomes), right, len(shown) / len(outcomes) - right))
    return points


@dataclass(frozen=True)
class Curve:
    """One graph's frontier.

    Attributes:
        graph: its name.
        runs: outcomes by rounds of retrieval allowed.
    """

    graph: str
    runs: Mapping[int, Sequence[Outcome]]

    def last(self) -> Sequence[Outcome]:
        """Return the outcomes with the most rounds."""
        return self.runs[max(self.runs)]


LOOPS = ("agent", "auto_rag")
"""Graphs that search more than once."""


async def frontier(bench: Bench, builds: Mapping[str, Callable[[], Any]], rounds: Sequence[int]) -> list[Curve]:
    """Ask every graph; those that search in rounds once for each number of rounds."""
    out = []
    for name, build in builds.items():
        allowed = rounds if name in LOOPS else [1]
        runs = {n: await bench.ask(f"{name}, {n} rounds", build, max_hops=n) for n in allowed}
        out.append(Curve(name, runs))
    return out


def frontier_rows(curves: Sequence[Curve]) -> list[list[str | float | int]]:
    """Return a table row per graph and number of rounds."""
    rows: list[list[str | float | int]] = []
    for curve in curves:
        for rounds, outcomes in curve.runs.items():
            f = figures(outcomes)
            keys = ("answered_correct", "answered_wrong", "abstained", "model_calls_per_question", "ms_per_question")
            rows.append([curve.graph, rounds, *(f[k] for k in keys)])
    return rows


FRONTIER = ("graph", "rounds", "correct", "wrong", "abstained", "calls", "ms")


def draw(curves: Sequence[Curve], path: Path, title: str) -> None:
    """Draw the frontier: correct against abstained as confidence is asked for, and correct against time."""
    figure = drawing("frontier", 9.5, 4.4)
    held, time = figure.subplots(1, 2, sharey=True)
    for curve in curves:
        points = sweep(curve.last())
        (line,) = held.step([p.abstained for p in points], [p.correct for p in points], where="post", label=curve.graph)
        held.plot(points[0].abstained, points[0].correct, "o", color=line.get_color())
        rows = [figures(outcomes) for outcomes in curve.runs.values()]
        ms, correct = [r["ms_per_question"] for r in rows], [r["answered_correct"] for r in rows]
        time.plot(ms, correct, "o-", color=line.get_color())
        for x, y, r, rounds in zip(ms, correct, rows, curve.runs, strict=True):
            calls = f", {r['model_calls_per_question']:.1f} calls" if r["model_calls_per_question"] else ""
            time.annotate(f"{rounds}{calls}", (x, y), textcoords="offset points", xytext=(4, 4), fontsize=7)
    held.set(xlabel="abstained (dots: as the graph is)", ylabel="answered correctly, share of all questions")
    time.set(xlabel="ms per question (figures: rounds, model calls)", xscale="log")
    figure.suptitle(title)
    figure.legend(loc="outside lower center", ncols=len(curves), fontsize=8)
    save_drawing(figure, path)
