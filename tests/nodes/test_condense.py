from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from ragweave.app.api import astate
from ragweave.graphs.search import graph
from ragweave.minds.context import Context
from ragweave.models.chat import override
from ragweave.models.errors import InputError
from ragweave.nodes.condense import condense
from ragweave.tests.support import ScriptedChat, build_library


async def test_thanks_in_between_leave_the_subject_and_are_answered_as_such(tmp_path: Path, home: Path) -> None:
    await build_library(
        tmp_path / "notes", {"ferry.md": "The ferry sails four times a day. Ada Brook steers the ferry.\n"}
    )
    saver, states = InMemorySaver(), []
    for text in ("How often does the ferry sail?", "Thanks!", "And who steers it?"):
        states.append(await astate(text, context=Context(mind="small"), thread="t", checkpointer=saver))
    assert states[1]["answer"].text == "You are welcome."
    assert [s["question"] for s in states] == ["How often does the ferry sail?", "Thanks!", "who steers the ferry?"]


async def test_a_door_that_keeps_no_thread_has_the_messages_alone(tmp_path: Path, home: Path) -> None:
    await build_library(tmp_path / "notes", {"ferry.md": "The ferry sails four times a day.\n"})
    asked: Any = {
        "messages": [
            HumanMessage("How often does the ferry sail?"),
            AIMessage("The ferry sails four times a day. [1]"),
            HumanMessage("And the bus?"),
            AIMessage("I could not find an answer to this in your library."),
            HumanMessage("thanks"),
            AIMessage("You are welcome."),
            HumanMessage("And in winter?"),
        ]
    }
    state = await graph.ainvoke(asked, context=Context())
    assert state["question"] == "How often does the bus sail in winter?"


async def test_what_is_searched_for_is_the_question_alone(tmp_path: Path, home: Path) -> None:
    await build_library(tmp_path / "notes", {"ferry.md": "The ferry sails four times a day.\n"})
    asked = "Hello! We are planning our Sunday. Could you look up in my notes how often the ferry sails? Many thanks!"
    state = await graph.ainvoke({"messages": [HumanMessage(asked)]}, context=Context())
    assert state["question"] == state["query"] == "how often the ferry sails?"
    assert state["messages"][0].content == asked


async def test_what_is_said_around_a_question_is_not_searched_for_in_other_languages(
    tmp_path: Path, home: Path
) -> None:
    german = "Die Fähre fährt viermal am Tag. Wer ein Fahrrad mitnimmt, zahlt zwei Euro mehr.\n"
    await build_library(
        tmp_path / "notes", {"faehre.md": german, "bus.md": "The bus leaves at eight in the morning.\n"}
    )
    asked = "Could you look up for me when the bus leaves? I need a bicycle on Sunday."
    with override(writer=ScriptedChat(replies=[])):
        state = await graph.ainvoke({"messages": [HumanMessage(asked)]}, context=Context())
    assert state["question"] == asked and state["query"] == "when the bus leaves?"
    assert "fahrrad" not in " ".join(state["also"])


@pytest.mark.parametrize(
    ("messages", "sentence"),
    [
        ([], "there is no question"),
        ([HumanMessage("")], "the question is empty"),
        ([HumanMessage(" ?! \n")], "the question is empty"),
        ([HumanMessage("x" * 100_000)], "100,000 characters"),
        ([AIMessage("hello")], "there is no question"),
    ],
)
async def test_a_turn_without_a_usable_question_gets_a_sentence(messages: list[Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        await graph.ainvoke({"messages": messages})


async def test_pixels_do_not_stay_in_the_state_and_that_nobody_looked_is_said(tmp_path: Path, home: Path) -> None:
    await build_library(tmp_path / "notes", {"ferry.md": "The ferry sails four times a day.\n"})
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    sent = HumanMessage([{"type": "text", "text": "How often does the ferry sail?"}, picture])
    asked: Any = {"messages": [sent]}
    state = await graph.ainvoke(asked, context=Context())
    assert [m.content for m in state["messages"]] == ["How often does the ferry sail?"]
    assert "not looked at" in state["notes"][0] and state["candidates"]


async def test_a_question_that_an_older_version_left_in_the_state_is_not_taken_for_an_edit(
    runtime: Any, tmp_path: Path
) -> None:
    await build_library(tmp_path / "notes", {"well.md": "The well was dug by Bert Osk.\n"})
    kept: Any = {"turn": "t", "question": "Who built the pump?", "messages": [HumanMessage("Who dug the well?")]}
    assert (await condense(kept, runtime(mind="small")))["question"] == "Who dug the well?"
