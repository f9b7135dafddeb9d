"""Messages of any form become ones that LangGraph reads; none is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, convert_to_messages

from ragweave.components.chat_messages import converted, is_unreadable, read_message

CALL = [{"id": None, "function": {"name": "f", "arguments": "{x"}}]


def test_a_message_that_langchain_reads_stays_as_it_came() -> None:
    given = [HumanMessage("a", id="1"), ("ai", "b"), {"role": "user", "content": "c"}, "d"]
    assert converted(given) == given
    assert converted("d") == ["d"]


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ({"role": "model", "content": "x"}, AIMessage),
        ({"role": "User", "content": {"type": "text", "text": "x"}}, HumanMessage),
        ({"role": "assistant", "content": "x", "tool_calls": CALL}, AIMessage),
        ({"type": "DeveloperMessage", "content": "x"}, SystemMessage),
    ],
)
def test_the_text_of_any_other_message_of_a_known_role_is_kept(message: Any, kind: type) -> None:
    (found,) = converted([message])
    assert isinstance(found, kind) and found.text == "x"


@pytest.mark.parametrize(
    "message", [None, 5, {}, {"role": "critic", "content": "x"}, {"role": "tool", "content": "x"}]
)
def test_what_cannot_be_read_has_a_stand_in(message: Any) -> None:
    (found,) = converted([message])
    assert is_unreadable(found)
    assert not is_unreadable(HumanMessage("x"))


_NAMES = st.sampled_from(
    ["role", "type", "content", "text", "kwargs", "data", "id", "lc", "tool_calls", "refusal"]
)
_VALUES = st.recursive(
    st.none() | st.integers() | st.sampled_from(["user", "ai", "tool", "constructor", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=8,
)


@given(_VALUES)
def test_no_json_stops_the_reading(sent: Any) -> None:
    assert isinstance(read_message(sent).role, str)
    convert_to_messages(converted(sent))
