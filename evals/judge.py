"""Let a language model judge answers: the better of two, or 1 to 5 against a baseline (VideoRAG, section 4).

The published protocol asks for a winner on five criteria and overall, with either answer first, five times.
Its prompts are quoted. We add a vote per question with intervals over questions, the share that the first
answer wins, lengths, a control with two equal answers, and a limit on tries: an unreadable verdict is counted
and left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, Field, create_model, field_validator

from ragweave.evals.bootstrap import interval
from ragweave.evals.data import read_jsonl
from ragweave.evals.runner import Row, Runner
from ragweave.models.chat import Chat
from ragweave.models.errors import InputError
from ragweave.models.meter import Meter
from ragweave.models.text import words
from ragweave.prompts import load, quote

CRITERIA = ("comprehensiveness", "empowerment", "trustworthiness", "depth", "density")
ASPECTS = (*CRITERIA, "overall")
TRIES = 3
"""Tries for one verdict; the chat model's own reader repairs each reply once."""

Protocol = Literal["pairs", "scores"]


class Preferred(BaseModel):
    """The better answer in one respect."""

    winner: Literal["1", "2"]
    reason: str = ""

    @field_validator("winner", mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        """Accept “Answer 1” too, because the prompt uses this name."""
        return value.lower().removeprefix("answer").strip() if isinstance(value, str) else value


class Rated(BaseModel):
    """The rating of an answer in one respect."""

    score: Annotated[int, Field(ge=1, le=5)]
    reason: str = ""


# A field per aspect, so that a server can enforce the schema.
_PREFERRED: dict[str, Any] = dict.fromkeys(ASPECTS, (Preferred, ...))
_RATED: dict[str, Any] = dict.fromkeys(ASPECTS, (Rated, ...))
Preferences: type[BaseModel] = create_model("Preferences", **_PREFERRED)
Ratings: type[BaseModel] = create_model("Ratings", **_RATED)


@dataclass(frozen=True)
class Case:
    """Two answers to one question.

    `a` is judged, `b` is the baseline; figures are also given per kind.
    """

    id: str
    question: str
    a: str
    b: str
    kind: str = ""


def read_cases(a: Path, b: Path) -> list[Case]:
    """Join two files of answers (`id, question, answer`, optionally `kind`) by the id of their questions.

    Raises:
        InputError: a row lacks a field, or the files share no question.
    """
    ours, theirs = _by_id(a), _by_id(b)
    cases = []
    for key, mine in ours.items():
        if key not in theirs:
            continue
        kind = str(mine.get("kind") or "")
        cases.append(Case(key, str(mine["question"]), str(mine["answer"]), str(theirs[key]["answer"]), kind))
    if not cases:
        raise InputError(f"no question of {a.name} is in {b.name}", "answer the same questions with both")
    return cases


def _by_id(path: Path) -> dict[str, Row]:
    rows = {}
    for row in read_jsonl(path, ["id", "question", "answer"]):
        rows[str(row["id"])] = row
    return rows


def control(cases: Sequence[Case]) -> list[Case]:
    """Return the cases with the baseline against itself, which show the position bias of a judge."""
    return [Case(f"{c.id} control", c.question, c.b, c.b, c.kind) for c in cases]


@dataclass
class Judged:
    """The verdicts over one case.

    By aspect, `marks` has a value per verdict: 1 if `a` won and 0 if it lost, or the score of `a`. `first`
    has a 1 if the first answer won. `unread` counts the unreadable verdicts.
    """

    case: Case
    marks: dict[str, list[float]] = field(default_factory=dict)
    first: dict[str, list[float]] = field(default_factory=dict)
    unread: int = 0


async def judge(
    cases: Sequence[Case],
    model: Chat,
    protocol: Protocol,
    *,
    runs: int = 1,
    meter: Meter | None = None,
    runner: Runner | None = None,
    name: str = "",
) -> list[Judged]:
    """Judge every case.

    `pairs` asks for winners with either answer first, `scores` for 1 to 5 against the baseline.
    """
    spent = meter or Meter()

    async def one(case: Case) -> Row:
        found = await _judge_case(case, model, protocol, runs, spent)
        return {"marks": found.marks, "first": found.first, "unread": found.unread}

    of = {"cases": list(map(astuple, cases)), "protocol": protocol, "runs": runs, "model": model.name}
    units = {}
    for case in cases:
        units[case.id] = case
    rows = await (runner or Runner()).each(name, units, one, of)
    judged = []
    for case, row in zip(cases, rows, strict=True):
        judged.append(Judged(case, row["marks"], row["first"], row["unread"]))
    return judged


async def _judge_case(case: Case, model: Chat, protocol: Protocol, runs: int, meter: Meter) -> Judged:
    found = Judged(case)
    for run in range(runs):
        for swapped in (False, True) if protocol == "pairs" else (False,):
            verdict = await _verdict(case, model, protocol, swapped, run, meter)
            if verdict is None:
                found.unread += 1
                continue
            for aspect in ASPECTS:
                said = getattr(verdict, aspect)
                if protocol == "scores":
                    found.marks.setdefault(aspect, []).append(float(said.score))
                    continue
                first_won = said.winner == "1"
                found.marks.setdefault(aspect, []).append(float(first_won != swapped))
                found.first.setdefault(aspect, []).append(float(first_won))
    return found


async def _verdict(
    case: Case, model: Chat, protocol: Protocol, swapped: bool, run: int, meter: Meter
) -> BaseModel | None:
    """Ask for one verdict; return None if no try was readable."""
    pairs = protocol == "pairs"
    first, second = case.a, case.b
    if swapped or not pairs:
        # With scores the baseline comes first, and then the rated answer.
        first, second = second, first
    schema = Preferences if pairs else Ratings
    for attempt in range(TRIES):
        messages = load(
            "judge_pair" if pairs else "judge_score",
            room="ragweave.evals.prompts",
            question=case.question,
            first=quote(first),
            second=quote(second),
        )
        if run or attempt:
            # The cache finds replies by their prompts, so each reading needs a different prompt.
            role, text = messages[-1]
            messages = [*messages[:-1], (role, f"{text}\n\n(Reading {run + 1}.{attempt + 1})")]
        verdict = await model.json(messages, schema, node="judge", meter=meter)
        if verdict is not None:
            return verdict
    return None


def rows_of(judged: Sequence[Judged], protocol: Protocol) -> list[list[str | float | int]]:
    """Return a row per aspect: the mean over questions, its interval, and the share that the first wins."""
    rows: list[list[str | float | int]] = []
    for aspect in ASPECTS:
        votes = _votes(judged, aspect)
        if not votes:
            continue
        found = interval(votes)
        row: list[str | float | int] = [aspect, found.mean, f"{found.low:.3f} to {found.high:.3f}"]
        if protocol == "pairs":
            first: list[float] = []
            for case in judged:
                first += case.first[aspect]
            row.append(float(np.mean(first)))
            row.append(float(np.mean(np.isin(votes, (0.0, 1.0)))))
        rows.append(row)
    return rows


def _votes(judged: Sequence[Judged], aspect: str) -> list[float]:
    """Return the mean mark of each case that has a readable verdict."""
    votes = []
    for case in judged:
        if case.marks.get(aspect):
            votes.append(float(np.mean(case.marks[aspect])))
    return votes


def columns(protocol: Protocol) -> list[str]:
    """Return the names of the columns of `rows_of`."""
    if protocol == "pairs":
        return ["aspect", "A wins", "95 % interval", "first wins", "orders agree"]
    return ["aspect", "score", "95 % interval"]


def flat(judged: Sequence[Judged], protocol: Protocol, prefix: str = "") -> dict[str, float]:
    """Return the figures under flat keys."""
    name = "win" if protocol == "pairs" else "score"
    unread = 0
    for case in judged:
        unread += case.unread
    out: dict[str, float] = {f"{prefix}questions": len(judged), f"{prefix}unread": unread}
    for aspect, *values in rows_of(judged, protocol):
        out[f"{prefix}{name}_{aspect}"] = round(float(values[0]), 4)
        if protocol == "pairs":
            out[f"{prefix}first_{aspect}"] = round(float(values[2]), 4)
    return out


def mean_words(texts: Sequence[str]) -> float:
    """Return the mean length of answers: a judge may prefer the longer ones."""
    lengths = [len(words(text)) for text in texts]
    return float(np.mean(lengths))


def by_kind(judged: Sequence[Judged]) -> Mapping[str, list[Judged]]:
    """Group by kind, if the cases name more than one."""
    kinds: dict[str, list[Judged]] = {}
    for j in judged:
        kinds.setdefault(j.case.kind or "(no kind)", []).append(j)
    if len(kinds) < 2:
        return {}
    return dict(sorted(kinds.items()))
