from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from pydantic import BaseModel

from ragweave.tests.support import ScriptedChat, UnconsumedReplies, UnexpectedModelCall


class Grade(BaseModel):
    verdict: str


def test_replies_come_in_order_and_calls_are_recorded() -> None:
    model = ScriptedChat(replies=["one", AIMessage("two"), ["thr", "ee"]])
    assert [model.invoke(f"q{i}").text for i in range(3)] == ["one", "two", "three"]
    assert [(c.prompt, c.method) for c in model.calls] == [("q0", "text"), ("q1", "text"), ("q2", "text")]
    model.assert_consumed()


async def test_async_calls_and_streams_work_too() -> None:
    model = ScriptedChat(replies=["one", ["tw", "o"], "th ree"])
    assert (await model.ainvoke("q")).text == "one"
    assert [c.text async for c in model.astream("q")] == ["tw", "o", ""]
    assert [c.text for c in model.stream("q")] == ["th ", "ree", ""]
    assert [c.method for c in model.calls] == ["text", "stream", "stream"]


def test_usage_counts_words() -> None:
    reply = ScriptedChat(replies=["one two three"]).invoke([HumanMessage("four words in here")])
    assert reply.usage_metadata == {"input_tokens": 4, "output_tokens": 3, "total_tokens": 7}


def test_a_stream_tells_its_usage_in_the_last_part() -> None:
    *_, last = ScriptedChat(replies=["one two"]).stream("q")
    assert isinstance(last, AIMessage)
    assert last.usage_metadata and last.usage_metadata["output_tokens"] == 2


@pytest.mark.parametrize("method", ["json_schema", "function_calling", "json_mode"])
@pytest.mark.parametrize("reply", [{"verdict": "yes"}, Grade(verdict="yes")])
def test_structured_replies_fit_every_method(method: str, reply: Any) -> None:
    model = ScriptedChat(replies=[reply] * 3)
    assert model.with_structured_output(Grade, method=method).invoke("q") == Grade(verdict="yes")
    assert model.with_structured_output(Grade.model_json_schema(), method=method).invoke("q") == {"verdict": "yes"}
    raw = model.with_structured_output(Grade, method=method, include_raw=True).invoke("q")
    assert raw["parsed"] == Grade(verdict="yes")
    assert bool(raw["raw"].tool_calls) is (method == "function_calling")
    assert {c.method for c in model.calls} == {method}


def test_an_unreadable_structured_reply_raises_or_is_reported() -> None:
    model = ScriptedChat(replies=["prose", "prose", "prose"])
    with pytest.raises(ValueError, match="Expecting value"):
        model.with_structured_output(Grade).invoke("q")
    raw = model.with_structured_output(Grade, include_raw=True).invoke("q")
    assert (raw["raw"].text, raw["parsed"]) == ("prose", None)
    assert isinstance(raw["parsing_error"], ValueError)
    assert model.with_structured_output(Grade, method="function_calling").invoke("q") is None


def test_exceptions_are_raised_in_their_turn() -> None:
    model = ScriptedChat(replies=[TimeoutError("slow"), "fine"])
    with pytest.raises(TimeoutError, match="slow"):
        model.invoke("q")
    assert model.invoke("q").text == "fine"


def test_a_call_without_a_reply_is_unexpected_and_shows_its_prompt() -> None:
    model = ScriptedChat()
    with pytest.raises(UnexpectedModelCall, match="no scripted reply is left for this text call:\nWhat now"):
        model.invoke("What now?")


def test_an_unexpected_call_that_was_swallowed_still_shows_in_the_end() -> None:
    model = ScriptedChat()
    try:
        model.invoke("q")
    except AssertionError:
        pass
    with pytest.raises(UnexpectedModelCall):
        model.assert_consumed()


def test_replies_left_over_are_told() -> None:
    model = ScriptedChat(replies=["one", "two"])
    model.invoke("q")
    assert model.pending == 1
    with pytest.raises(UnconsumedReplies, match="1 scripted replies were never asked for, first: 'two'"):
        model.assert_consumed()


def test_a_function_makes_replies_once_the_queue_is_empty() -> None:
    model = ScriptedChat(replies=["first"], react=lambda messages: f"you said {messages[-1].text}")
    assert [model.invoke(q).text for q in ("a", "b", "c")] == ["first", "you said b", "you said c"]
    model.queue("queued")
    assert model.invoke("d").text == "queued"
    model.assert_consumed()
