"""Ablation: what each node adds, on the same questions (paired)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ragweave.components.context import Context
from ragweave.corpora.store.library import open_library
from ragweave.evals.answers import AnswerVerdict, Question, ask_all, figures, question_of
from ragweave.evals.bootstrap import paired
from ragweave.evals.data import sample, text_sets
from ragweave.evals.off import Off
from ragweave.evals.runner import Runner

FULL = "everything"


def public_set(data: Path, each: int) -> tuple[list[dict[str, Any]], list[Question]]:
    """Return passages and questions: one fact, two facts, and absent ones whose passage is left out of the index.

    `each` questions are taken of XQuAD and of HotpotQA, and half as many are absent.
    """
    xquad, hotpot, passages = text_sets(data)
    # A passage that is taken away answers none of the questions that are kept.
    hidden = sample(xquad, max(1, each // 2))
    gone = {str(g) for q in hidden for g in q["gold"]}
    kept = [q for q in xquad if not gone & {str(g) for g in q["gold"]}]
    asked = [question_of(q, "one fact") for q in sample(kept, each)]
    asked += [question_of(q, "two facts") for q in sample(hotpot, each)]
    asked += [question_of({"id": q["id"], "question": q["question"]}, "absent", answerable=False) for q in hidden]
    return [p for p in passages if str(p["id"]) not in gone], asked


@dataclass(frozen=True)
class AblationBench:
    """What every run of a comparison shares.

    `name_of` says what a cited file is called among the gold names.
    """

    questions: Sequence[Question]
    context: Context
    name_of: Callable[[str], str]
    runner: Runner

    async def ask(
        self, name: str, build: Callable[[], Any], off: Sequence[Off] = (), **knobs: Any
    ) -> list[AnswerVerdict]:
        """Ask every question of one graph, without the nodes that are off."""
        context = Context(**{**self.context.model_dump(exclude_unset=True), **knobs})
        held = await (await open_library(context.library)).about()
        return await ask_all(
            build,
            self.questions,
            context,
            name_of=self.name_of,
            runner=self.runner,
            name=name,
            of={"library": asdict(held), "off": list(off)},
            off=off,
        )


async def ablate(bench: AblationBench, build: Callable[[], Any], off: Sequence[Off]) -> dict[str, list[AnswerVerdict]]:
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


def rows_of(runs: Mapping[str, Sequence[AnswerVerdict]]) -> list[list[str | float | int]]:
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


def difference(before: Sequence[AnswerVerdict], after: Sequence[AnswerVerdict], verdict: str) -> str:
    """Return the paired difference of the share of one verdict, with its interval."""
    a, b = ([float(o.verdict == verdict) for o in outcomes] for outcomes in (before, after))
    found = paired(a, b)
    return f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


def flat(runs: Mapping[str, Sequence[AnswerVerdict]]) -> dict[str, float]:
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
