"""Depth: one graph, answered fast or by all five methods; documents reach a chat model whole."""

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


@pytest.mark.usefixtures("library")
async def test_thorough_plans_rewrites_grades_filters_strips_and_asks_on(play: Any) -> None:
    model = play(
        reason=[
            "Missing: the firm that built it.\nQuery: builder of the telescope of the Corvane Observatory",
            "Learnt: the Ostrander Works built it [1]. Missing: the founder.\nQuery: founder of Ostrander Works",
            "Final Answer: Ada Ostrander founded it [2].",
        ]
    )
    state = await ask(model, depth="thorough", check_by="on", top_k=1)
    once = ["expand", "grade", "grade", "reason"]
    assert [p for p in play.parts(model) if p != "route"] == ["reason", *once, *once]
    assert [h["query"] for h in state["hops"]] == [
        "builder of the telescope of the Corvane Observatory",
        "founder of Ostrander Works",
    ]
    assert state["plan"] == ["", "the firm that built it."] and state["queries"][0]["rewrites"]
    assert state["grade"]["by"] == "llm"
    assert state["answer"].citations[0].title == "Ostrander Works"


@pytest.mark.usefixtures("library")
async def test_a_plan_may_need_no_search_and_spent_rounds_go_on_from_memory(play: Any) -> None:
    model = play(reason="Final Answer: It is 12.")
    assert (await ask(model, "What is the square root of 144?", depth="thorough"))["answer"].text.startswith("It is 12")
    assert play.parts(model) == ["reason"]
    wants = [f"Learnt: nothing.\nQuery: {word} of Ostrander Works" for word in ("founder", "wife", "town", "heirs")]
    model = play(reason=[*wants, "Final Answer: Ada Ostrander [1]."], recall="Ada Ostrander founded the works.")
    state = await ask(model, depth="thorough", check_by="on", max_hops=2)
    assert play.parts(model).count("recall") == state["recalls"] == 2


def test_a_knob_that_is_set_wins_and_auto_is_left_to_the_depth(monkeypatch: pytest.MonkeyPatch, play: Any) -> None:
    with override(writer=play()):
        made = Context(depth="thorough", route_by="auto", expand_when="never", method={"strip_mode": "whole"})
        assert (made.route_by, made.expand_when, made.grade_by) == ("ensemble", "never", "llm")
        assert (made.method.strip_mode, made.method.plan_first) == ("whole", True)
        paper = Context(depth="thorough", preset="crag-paper")
        assert (paper.grade_by, paper.method.strips, paper.method.plan_first) == ("checkpoint", 5, True)
        assert Context(depth="thorough", mode="extractive").grade_by == "auto"
        monkeypatch.setenv("RAGWEAVE_EVALUATOR", "my/evaluator")
        model_settings.cache_clear()
        assert Context(depth="thorough").grade_by == "checkpoint"


@pytest.mark.usefixtures("library")
async def test_without_a_chat_model_thorough_says_what_it_lacks() -> None:
    state = await astate(QUESTION, context=Context(depth="thorough"))
    assert any("needs a chat model" in note for note in state["answer"].notes)


CHAPTERS = [f"## Chapter {n}\n\nThe harbour of Rook has {n} cranes and a long history of storms." for n in range(120)]
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


@pytest.mark.parametrize("thorough", [False, True])
async def test_the_agent_reads_a_document_whole_and_names_what_does_not_fit(
    tmp_path: Path, home: Path, play: Any, thorough: bool
) -> None:
    await build_library(tmp_path / "notes", {"rook.md": "# Rook\n\n" + "\n\n".join(CHAPTERS)})
    knobs: dict[str, Any] = {"corpora": ("document", "paragraph"), "check_by": "on"}
    knobs |= {"depth": "thorough", "plan_first": False} if thorough else {}
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
    assert "Crane 7" in prompt and sum(f"Crane {n}\n" in prompt or f"Crane {n};" in prompt for n in range(40)) <= 2
