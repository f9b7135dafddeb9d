"""`ragweave chat`: turns, commands, conversations on disk, and leaving politely."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest

from ragweave.components.phrases import QUOTED
from ragweave.models.errors import ModelError

Typed = Any


@pytest.fixture
def typed(main: Any, monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Run `ragweave chat` with these lines on standard input."""

    def run(*lines: str, options: tuple[str, ...] = ()) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        result: tuple[int, str, str] = main("chat", *options)
        return result

    return run


def test_the_turns_of_a_conversation_share_a_thread(typed: Typed, agent: Any) -> None:
    code, out, err = typed("When was it lit?", "And how tall is it?")
    assert (code, err) == (0, "")
    assert agent.asked == ["When was it lit?", "And how tall is it?"]
    assert len({o["thread"] for o in agent.options}) == 1
    assert out.count("It was lit in 1874. [1]") == 2
    assert f"ragweave chat --thread {agent.options[0]['thread']}" in out


def test_a_conversation_says_once_that_no_model_read_the_quotes(typed: Typed, agent: Any) -> None:
    agent.answer = agent.answer.model_copy(update={"notes": (QUOTED, "a file was left out")})
    out = typed("When was it lit?", "And how tall is it?")[1]
    assert (out.count(QUOTED[:30]), out.count("Note: a file was left out")) == (1, 2)


def test_an_error_and_an_interruption_end_the_turn_and_not_the_conversation(typed: Typed, agent: Any) -> None:
    agent.error = KeyboardInterrupt()
    code, out, _ = typed("One?", "Two?")
    assert (code, out.count("Stopped; ask something else.")) == (0, 2)
    agent.error = ModelError("the server is down", "start it")
    code, _, err = typed("One?", "Two?")
    assert (code, err) == (0, "error: the server is down; start it.\n" * 2)
    assert agent.asked == ["One?", "Two?"] * 2


def test_an_unknown_thread_is_named(main: Any) -> None:
    code, _, err = main("chat", "--thread", "nope")
    assert code == 2
    assert "no conversation is named 'nope'" in err
