"""Effort: budgets of one flow; documents reach a chat model whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragweave.app.api import astate
from ragweave.components.context import Context
from ragweave.graphs.agent import graph
from ragweave.models.chat import override
from ragweave.models.settings import model_settings
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.knobs import context as knobs_of
from ragweave.tests.support.library import build_library

QUESTION = "Who founded the firm that built the telescope of the Corvane Observatory?"


async def ask(model: ScriptedChat, question: str = QUESTION, **knobs: Any) -> dict[str, Any]:
    with override(writer=model):
        return await astate(question, context=knobs_of(**knobs), graph=graph)


def test_effort_moves_budgets_and_a_knob_that_is_set_wins(monkeypatch: pytest.MonkeyPatch, play: Any) -> None:
    with override(writer=play()):
        made = Context(effort="high", grade_by="auto", max_hops=2)
        assert (made.grade_by, made.max_hops) == ("llm", 2)
        assert Context(effort="low").max_hops == 1
        assert Context(effort="high", preset="crag-paper").grade_by == "checkpoint"
        assert Context(effort="high", mode="extractive").grade_by == "auto"
        monkeypatch.setenv("RAGWEAVE_EVALUATOR", "my/evaluator")
        model_settings.cache_clear()
        assert Context(effort="high").grade_by == "checkpoint"
    assert Context(effort="high").grade_by == "auto"


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(("effort", "reworded"), [("low", False), ("normal", True), ("high", True)])
async def test_a_round_that_finds_nothing_is_searched_in_other_words_unless_effort_is_low(
    play: Any, effort: str, reworded: bool
) -> None:
    model = play(reason="Final Answer: UNKNOWN")
    state = await ask(
        model, "Who is the mayor of Pell?", effort=effort, grade_by="local", lower=0.9, upper=0.9
    )
    assert ("expand" in play.parts(model)) is reworded
    assert state["grade"]["action"] == "incorrect"


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(("effort", "reworded"), [("normal", False), ("high", True)])
async def test_with_high_effort_an_ambiguous_round_is_searched_in_other_words_as_well(
    play: Any, effort: str, reworded: bool
) -> None:
    model = play(reason="Final Answer: UNKNOWN")
    state = await ask(model, effort=effort, grade_by="local", upper=1.0, lower=-1.0)
    assert ("expand" in play.parts(model)) is reworded
    assert state["grade"]["action"] == "ambiguous"


CHAPTERS = [
    f"## Chapter {n}\n\nThe harbour of Rook has {n} cranes and a long history of storms." for n in range(120)
]
OVERVIEW = "What do all chapters about the harbour of Rook say, from the first to the last?"


async def test_a_document_that_a_further_query_finds_again_is_read_whole_in_its_place(
    tmp_path: Path, home: Path, play: Any
) -> None:
    await build_library(tmp_path / "notes", {"rook.md": "# Rook\n\n" + "\n\n".join(CHAPTERS)})
    asked = "Query: all chapters about the harbour of Rook, cranes and storms"
    model = play(reason=[asked, "Final Answer: It has 97 cranes [1]."])
    state = await ask(
        model,
        "How many cranes has the harbour of Rook in chapter 12?",
        check_by="on",
        corpora=("paragraph", "document"),
    )
    first, second = (c.prompt for c in model.calls)
    assert "has 97 cranes" not in first and all(f"has {n} cranes" in second for n in (0, 60, 97, 119))
    assert state["answer"].sentences[0].citations


async def test_the_agent_reads_a_document_whole_and_names_what_does_not_fit(
    tmp_path: Path, home: Path, play: Any
) -> None:
    await build_library(tmp_path / "notes", {"rook.md": "# Rook\n\n" + "\n\n".join(CHAPTERS)})
    knobs: dict[str, Any] = {"corpora": ("document", "paragraph"), "check_by": "on"}
    model = play(reason="Final Answer: The harbour of Rook has 97 cranes [1].")
    state = await ask(model, OVERVIEW, **knobs)
    told = next(c.prompt for c in model.calls if "Final Answer" in c.prompt)
    assert all(f"has {n} cranes" in told for n in (0, 60, 119))
    assert told.count("has 97 cranes") == 1  # the paragraph that the document holds is not sent beside it
    (said,) = state["answer"].sentences
    assert said.support == "verified" and state["answer"].citations[0].locator["line"] > 300
    assert max(len(s["text"]) for s in state["knowledge"]) <= 2_000
    model = play(reason="Final Answer: Many [1].")
    await ask(model, OVERVIEW, **knobs, turn_tokens=2000)
    told = next(c.prompt for c in model.calls if "Final Answer" in c.prompt)
    assert len(told) < 9_000 and "[This document goes on, not shown here, under: " in told


async def test_of_a_mailbox_a_mail_is_read_whole_without_the_subjects_of_the_others(
    tmp_path: Path, home: Path, play: Any
) -> None:
    mail = "From a@b.example Mon Jan  1 00:00:00 2024\nFrom: Ada <a@b.example>\nSubject: Crane {0}\n\n{1}\n\n"
    told = "The harbour of Rook has a crane {} that was bought second-hand. It lifts four tons."
    mails = [mail.format(n, told.format(n)) for n in range(40)]
    await build_library(tmp_path / "mail", {"rook.mbox": "".join(mails)})
    model = play(reason="Final Answer: It lifts four tons [1].")
    await ask(model, "What of crane 7 of the harbour of Rook?", corpora=("document",), top_k=2, check_by="on")
    prompt = model.calls[0].prompt
    assert (
        "Crane 7" in prompt
        and sum(f"Crane {n}\n" in prompt or f"Crane {n};" in prompt for n in range(40)) <= 2
    )
