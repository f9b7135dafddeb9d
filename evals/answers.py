"""Answer figures: answered-correct, answered-wrong, quoted and abstained are always counted together.

Where no model read what was found, passages are quoted: then a question counts as answered where an accepted
answer stands in what is shown, and never as answered wrong, because a quote claims nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from ragweave.components.answer import Answer
from ragweave.components.context import Context
from ragweave.evals.data import listed
from ragweave.evals.metrics import citation_precision, citation_recall, letter_score, rouge_l, says, token_f1
from ragweave.evals.off import Off, without
from ragweave.evals.question_files import rows_of
from ragweave.evals.retrieval import by_global_score
from ragweave.evals.runner import Row, Runner
from ragweave.models.errors import InputError


@dataclass(frozen=True)
class Question:
    """One question with its gold answers.

    Any one of `answers` is enough; `gold` are files or passage ids that hold it. Figures are also given per
    `kind`; `previous` is the turn that this one follows up. With a `letter` the question is multiple choice,
    and that is all that counts.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    gold: tuple[str, ...] = ()
    answerable: bool = True
    kind: str = ""
    previous: str = ""
    must_not_contain: tuple[str, ...] = ()
    letter: str = ""

    @property
    def scored(self) -> bool:
        """Whether anything says what a right answer is."""
        return bool(self.answers or self.letter or self.must_not_contain or not self.answerable)


@dataclass
class AnswerVerdict:
    """What became of one question."""

    question: Question
    answer: Answer
    seconds: float
    cited: list[str] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)
    """Ids of the items that it had, best first."""
    corpora: list[str] = field(default_factory=list)
    """What the last router chose; none where the graph has no router."""

    @property
    def shown(self) -> str:
        """The sentences that were shown, without their marks."""
        return " ".join(s.text for s in self.answer.sentences)

    @property
    def quotes(self) -> bool:
        """Whether passages are quoted, which no model read."""
        return self.answer.kind == "quotes"

    @property
    def correct(self) -> bool:
        """A gold answer stands in what is shown, where there is one, and nothing there that must not be said."""
        if self.question.letter:
            return letter_score(self.shown, self.question.letter) == 1
        said = (
            says(self.shown, self.question.answers)
            if self.question.answers
            else bool(self.question.must_not_contain)
        )
        return said and not says(self.shown, self.question.must_not_contain)

    @property
    def verdict(self) -> str:
        """`correct`, `wrong`, `abstained`, or `quoted` for quotes in which no gold answer stands.

        An unanswerable question can only be answered wrong.
        """
        if self.answer.abstained:
            return "abstained"
        if self.question.answerable and self.correct:
            return "correct"
        return "quoted" if self.quotes else "wrong"


def read_questions(path: Path) -> list[Question]:
    """Read questions: `id, question, answers`, and optionally the further fields of `Question`.

    The files of LongerVideos, Video-MME and LVBench are read as they are published. Gold names are read from
    `gold_files`, or from `gold`.

    Raises:
        InputError: a line lacks a question, two have one id, or a turn follows one that does not stand before
            it.
    """
    out: list[Question] = []
    seen: set[str] = set()
    for row in rows_of(path):
        question = question_of(row)
        if question.id in seen:
            raise InputError(
                f"{path.name} has two questions with the id {question.id}", "give each its own id"
            )
        if question.previous and question.previous not in seen:
            raise InputError(
                f"question {question.id} of {path.name} follows {question.previous}, which does not stand"
                " before it",
                "put the earlier turn first",
            )
        seen.add(question.id)
        out.append(question)
    return out


def question_of(row: Mapping[str, Any]) -> Question:
    """Read one question row."""
    return Question(
        id=str(row["id"]),
        text=str(row["question"]),
        answers=listed(row.get("answers")),
        gold=listed(row.get("gold_files", row.get("gold"))),
        answerable=bool(row.get("answerable", True)),
        kind=str(row.get("kind", "")),
        previous=str(row.get("previous") or ""),
        must_not_contain=listed(row.get("must_not_contain")),
        letter=str(row.get("letter") or ""),
    )


async def ask_all(
    build: Callable[[], Any],
    questions: Sequence[Question],
    context: Context,
    *,
    name_of: Callable[[str], str] = lambda file: Path(file).name,
    runner: Runner | None = None,
    name: str = "",
    of: Mapping[str, Any] | None = None,
    off: Sequence[Off] = (),
) -> list[AnswerVerdict]:
    """Ask every question of one graph; a conversation is one unit, whose turns share a thread.

    Without a runner the conversations are asked one after another; `of` is what the answers depend on beside
    graph, knobs and questions.
    """
    graph = without(build(), off).compile(checkpointer=InMemorySaver())
    opened = {turns[0].id: turns for turns in conversations(questions)}

    async def converse(turns: Sequence[Question]) -> Row:
        config: Any = {"configurable": {"thread_id": turns[0].id}, "recursion_limit": 500}
        row: Row = {}
        for question in turns:
            started = time.perf_counter()
            sent: Any = {"messages": [("human", question.text)]}
            state = await graph.ainvoke(sent, config, context=context, durability="exit")
            seconds = time.perf_counter() - started
            answer: Answer = state["answer"]
            cited = [name_of(c.locator["file"]) for c in answer.citations if "file" in c.locator]
            row[question.id] = {
                "answer": answer.model_dump(mode="json"),
                "seconds": seconds,
                "cited": cited,
                "evidence": _ranked(state),
                "corpora": [c for route in state.get("routes", [])[-1:] for c in route["corpora"]],
            }
        return row

    depends = {
        **(of or {}),
        "graph": build.__module__,
        "context": context.model_dump(mode="json"),
        "questions": [(q.id, q.text) for q in questions],
    }
    rows = await (runner or Runner()).each(name, opened, converse, depends)
    found = {id: answered for row in rows for id, answered in row.items()}
    return [
        AnswerVerdict(q, **{**found[q.id], "answer": Answer.model_validate(found[q.id]["answer"])})
        for q in questions
    ]


def _ranked(state: Mapping[str, Any]) -> list[str]:
    """Return ids of the evidence: one search in its own order, several as the run ranks what they found."""
    rows = state.get("evidence", [])
    if len({e["hop"] for e in rows}) < 2:
        return list(state.get("candidates", []))
    return [e["id"] for e in by_global_score(rows)]


def conversations(questions: Sequence[Question]) -> list[list[Question]]:
    """Group questions into conversations; a second follow-up of one turn is asked after the first."""
    root: dict[str, str] = {}
    grouped: dict[str, list[Question]] = {}
    for q in questions:
        root[q.id] = root[q.previous] if q.previous else q.id
        grouped.setdefault(root[q.id], []).append(q)
    return list(grouped.values())


def figures(outcomes: Sequence[AnswerVerdict]) -> dict[str, float]:
    """Return the shares of all questions, the precision of the citations, and milliseconds.

    `answer_shown` is the share of the answerable questions with a gold answer in what is shown, and
    `characters_shown` the median length of that. `citation_precision` is the share of cited files that are
    gold, over answered questions that have gold files, and `citation_recall` the share of gold files that are
    cited; `token_f1` and `rouge_l` compare what was written with the closest gold answer, over answered
    questions that have one, and fall with every word that is not in it; `abstained_right` is the share of the
    unanswerable questions that were declined.
    """
    total = len(outcomes) or 1
    counts = {v: sum(o.verdict == v for o in outcomes) for v in ("correct", "wrong", "quoted", "abstained")}
    cited = [o for o in outcomes if o.question.gold and o.cited]
    written = [o for o in outcomes if not (o.answer.abstained or o.quotes)]
    worded = [o for o in written if o.question.answers]
    sentences = [len(o.answer.sentences) for o in written]
    absent = [o.answer.abstained for o in outcomes if not o.question.answerable]
    return {
        "questions": len(outcomes),
        "answered_correct": round(counts["correct"] / total, 4),
        "answered_wrong": round(counts["wrong"] / total, 4),
        "quoted": round(counts["quoted"] / total, 4),
        "abstained": round(counts["abstained"] / total, 4),
        "answer_shown": _mean([o.verdict == "correct" for o in outcomes if o.question.answerable]),
        "characters_shown": median(len(o.shown) for o in outcomes) if outcomes else 0,
        "abstained_right": _mean(absent),
        "citation_precision": _mean([citation_precision(o.cited, o.question.gold) for o in cited]),
        "citation_recall": _mean([citation_recall(o.cited, o.question.gold) for o in cited]),
        "token_f1": _mean([token_f1(o.shown, o.question.answers) for o in worded]),
        "rouge_l": _mean([rouge_l(o.shown, o.question.answers) for o in worded]),
        "sentences_per_answer": round(_mean(sentences), 2),
        "model_calls_per_question": round(sum(o.answer.model_calls for o in outcomes) / total, 3),
        "ms_per_question": round(1000 * sum(o.seconds for o in outcomes) / total, 1),
    }


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0


def by_kind(outcomes: Sequence[AnswerVerdict]) -> dict[str, dict[str, float]]:
    """Return the figures of each kind of question, where more than one kind is named."""
    kinds: dict[str, list[AnswerVerdict]] = {}
    for o in outcomes:
        kinds.setdefault(o.question.kind or "(no kind)", []).append(o)
    return {kind: figures(rows) for kind, rows in sorted(kinds.items())} if len(kinds) > 1 else {}


def write_answers(path: Path, outcomes: Sequence[AnswerVerdict]) -> None:
    """Write the answers as JSON Lines: id, question, answer, kind, and whether it abstained."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = (
        {
            "id": o.question.id,
            "question": o.question.text,
            "answer": o.answer.text,
            "kind": o.question.kind,
            "abstained": o.answer.abstained,
        }
        for o in outcomes
    )
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
