"""Answer figures: the shares of correct, wrong, quoted and abstained answers are always counted together.

Without a chat model the answer quotes passages. Such an answer counts as correct if it holds an accepted
answer. It never counts as wrong, because a quote claims nothing.
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
    `kind`; `previous` is the turn that this one follows up. A question with a `letter` is multiple choice:
    then only the letter counts.
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
        """Whether the question says what a right answer is."""
        return bool(self.answers or self.letter or self.must_not_contain or not self.answerable)


@dataclass
class AnswerVerdict:
    """The answer to one question, with its costs and its evidence."""

    question: Question
    answer: Answer
    seconds: float
    cited: list[str] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)
    """Ids of the evidence items, best first."""
    corpora: list[str] = field(default_factory=list)
    """The choice of the last router; empty if the graph has no router."""

    @property
    def shown(self) -> str:
        """The sentences of the answer, without their marks."""
        texts = [sentence.text for sentence in self.answer.sentences]
        return " ".join(texts)

    @property
    def quotes(self) -> bool:
        """Whether the answer quotes passages instead of a model's words."""
        return self.answer.kind == "quotes"

    @property
    def correct(self) -> bool:
        """Whether the answer holds a gold answer, if there is one, and nothing that it must not contain."""
        question = self.question
        if question.letter:
            return letter_score(self.shown, question.letter) == 1
        if question.answers and not says(self.shown, question.answers):
            return False
        if not question.answers and not question.must_not_contain:
            return False
        return not says(self.shown, question.must_not_contain)

    @property
    def verdict(self) -> str:
        """`correct`, `wrong`, `abstained`, or `quoted` for quotes without a gold answer.

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
        InputError: a line lacks a question, two have one id, or a turn does not come after the one that it
            follows.
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
                f"question {question.id} of {path.name} follows {question.previous}, which does not come"
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
    """Run one graph on every question; a conversation is one unit, and its turns share a thread.

    Without a runner the conversations run one after another. `of` is what the answers depend on in addition
    to the graph, the knobs and the questions.
    """
    graph = without(build(), off).compile(checkpointer=InMemorySaver())
    units = {}
    for group in conversations(questions):
        units[group[0].id] = group

    async def converse(turns: Sequence[Question]) -> Row:
        return await _converse(graph, turns, context, name_of)

    asked = [(q.id, q.text) for q in questions]
    depends = {
        **(of or {}),
        "graph": build.__module__,
        "context": context.model_dump(mode="json"),
        "questions": asked,
    }
    found: Row = {}
    for row in await (runner or Runner()).each(name, units, converse, depends):
        found.update(row)
    verdicts = []
    for question in questions:
        row = found[question.id]
        answer = Answer.model_validate(row["answer"])
        verdicts.append(AnswerVerdict(question, **{**row, "answer": answer}))
    return verdicts


async def _converse(
    graph: Any, turns: Sequence[Question], context: Context, name_of: Callable[[str], str]
) -> Row:
    """Run the turns of one conversation in one thread; return a row for each question id."""
    config: Any = {"configurable": {"thread_id": turns[0].id}, "recursion_limit": 500}
    rows: Row = {}
    for question in turns:
        started = time.perf_counter()
        sent: Any = {"messages": [("human", question.text)]}
        state = await graph.ainvoke(sent, config, context=context, durability="exit")
        seconds = time.perf_counter() - started
        answer: Answer = state["answer"]
        routes = state.get("routes")
        rows[question.id] = {
            "answer": answer.model_dump(mode="json"),
            "seconds": seconds,
            "cited": list(map(name_of, _cited_files(answer))),
            "evidence": _ranked(state),
            "corpora": list(routes[-1]["corpora"]) if routes else [],
        }
    return rows


def _cited_files(answer: Answer) -> list[str]:
    files = []
    for citation in answer.citations:
        if "file" in citation.locator:
            files.append(citation.locator["file"])
    return files


def _ranked(state: Mapping[str, Any]) -> list[str]:
    """Return ids of the evidence: in the order of the search, or as the run ranks the results of several."""
    rows = state.get("evidence", [])
    hops = [row["hop"] for row in rows]
    if len(set(hops)) < 2:
        return list(state.get("candidates", []))
    return [row["id"] for row in by_global_score(rows)]


def conversations(questions: Sequence[Question]) -> list[list[Question]]:
    """Group questions into conversations; a second follow-up of one turn comes after the first."""
    root: dict[str, str] = {}
    grouped: dict[str, list[Question]] = {}
    for q in questions:
        root[q.id] = root[q.previous] if q.previous else q.id
        grouped.setdefault(root[q.id], []).append(q)
    return list(grouped.values())


def figures(outcomes: Sequence[AnswerVerdict]) -> dict[str, float]:
    """Return the shares of all questions, the scores of citations and wording, and the costs.

    `answer_shown` is the share of the answerable questions whose answer holds a gold answer, and
    `characters_shown` the median length of all answers. `citation_precision` is the share of cited files that
    are gold, over answered questions that have gold files, and `citation_recall` the share of gold files that
    are cited. `token_f1` and `rouge_l` compare a written answer with the closest gold answer, over answered
    questions that have one, and fall with every word that is not in it. `abstained_right` is the share of
    the unanswerable questions that were declined.
    """
    verdicts = [outcome.verdict for outcome in outcomes]
    total = len(outcomes) or 1
    out: dict[str, float] = {"questions": len(outcomes)}
    out["answered_correct"] = round(verdicts.count("correct") / total, 4)
    out["answered_wrong"] = round(verdicts.count("wrong") / total, 4)
    out["quoted"] = round(verdicts.count("quoted") / total, 4)
    out["abstained"] = round(verdicts.count("abstained") / total, 4)
    shown, declined, lengths = [], [], []
    calls, seconds = 0, 0.0
    for outcome, verdict in zip(outcomes, verdicts, strict=True):
        lengths.append(len(outcome.shown))
        calls += outcome.answer.model_calls
        seconds += outcome.seconds
        if outcome.question.answerable:
            shown.append(verdict == "correct")
        else:
            declined.append(outcome.answer.abstained)
    out["answer_shown"] = _mean(shown)
    out["characters_shown"] = median(lengths) if lengths else 0
    out["abstained_right"] = _mean(declined)
    out.update(_citation_scores(outcomes))
    out.update(_wording_scores(outcomes))
    out["model_calls_per_question"] = round(calls / total, 3)
    out["ms_per_question"] = round(1000 * seconds / total, 1)
    return out


def _citation_scores(outcomes: Sequence[AnswerVerdict]) -> dict[str, float]:
    precision, recall = [], []
    for outcome in outcomes:
        gold = outcome.question.gold
        if gold and outcome.cited:
            precision.append(citation_precision(outcome.cited, gold))
            recall.append(citation_recall(outcome.cited, gold))
    return {"citation_precision": _mean(precision), "citation_recall": _mean(recall)}


def _wording_scores(outcomes: Sequence[AnswerVerdict]) -> dict[str, float]:
    """Compare the written answers with the gold answers, and count their sentences."""
    f1, rouge, lengths = [], [], []
    for outcome in outcomes:
        if outcome.answer.abstained or outcome.quotes:
            continue
        lengths.append(len(outcome.answer.sentences))
        answers = outcome.question.answers
        if answers:
            f1.append(token_f1(outcome.shown, answers))
            rouge.append(rouge_l(outcome.shown, answers))
    return {"token_f1": _mean(f1), "rouge_l": _mean(rouge), "sentences_per_answer": round(_mean(lengths), 2)}


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0


def by_kind(outcomes: Sequence[AnswerVerdict]) -> dict[str, dict[str, float]]:
    """Return the figures of each kind of question, if the questions name more than one kind."""
    kinds: dict[str, list[AnswerVerdict]] = {}
    for outcome in outcomes:
        kinds.setdefault(outcome.question.kind or "(no kind)", []).append(outcome)
    if len(kinds) < 2:
        return {}
    out = {}
    for kind, rows in sorted(kinds.items()):
        out[kind] = figures(rows)
    return out


def write_answers(path: Path, outcomes: Sequence[AnswerVerdict]) -> None:
    """Write the answers as JSON Lines: id, question, answer, kind, and whether it abstained."""
    lines = []
    for outcome in outcomes:
        row = {
            "id": outcome.question.id,
            "question": outcome.question.text,
            "answer": outcome.answer.text,
            "kind": outcome.question.kind,
            "abstained": outcome.answer.abstained,
        }
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")
