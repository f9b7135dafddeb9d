"""`ragweave graph`: every graph, in words and as Mermaid."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from ragweave.app.api import GRAPHS, build_agent
from ragweave.app.commands.graph import meaning, shown
from ragweave.app.commands.options import at_seconds, graph_of
from ragweave.components import method
from ragweave.components.context import Context
from ragweave.components.method import PRESETS, knobs_of
from ragweave.components.phrases import QUOTED
from ragweave.models.errors import InputError, ModelError
from ragweave.tests.support.library import build_library


@pytest.mark.parametrize("name", GRAPHS)
def test_every_step_is_listed_with_what_it_does(main: Any, name: str) -> None:
    code, out, _ = main("graph", name)
    assert code == 0
    for node in build_agent(name).get_graph().nodes:
        if not node.startswith("__"):
            assert f"\n{node} " in out
            assert meaning(node), f"nodes/{node}.py needs a docstring"


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_shown_as_its_graph_with_each_setting_and_runs_as_shown(main: Any, preset: str) -> None:
    code, out, _ = main("graph", "--preset", preset)
    assert code == 0
    assert out.startswith(main("graph", method.graph_of(preset))[1].rstrip())
    context = Context(preset=cast(Any, preset))
    for name, value in knobs_of(preset).items():
        holder = context.method if name.startswith("method.") else context
        assert getattr(holder, name.removeprefix("method.")) == value
        assert f"\n{name} " in out and shown(value).split(",")[0] in out


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_searches_as_its_paper_did_in_its_own_graph_unless_another_is_named(preset: str) -> None:
    context = Context(preset=cast(Any, preset))
    assert context.check_by == "off" and context.sentences == 0
    assert context.method.fusion == ("scores" if preset == "video-rag-paper" else "dense")
    assert graph_of(None, context) == method.graph_of(preset) and graph_of("agent", context) == "agent"


TALK = """WEBVTT

00:00:14.000 --> 00:00:19.000
The comet was found by Ada Ostrander in 1889.

00:12:31.000 --> 00:12:38.000
After Ada Ostrander the Corvane Observatory kept the telescope.
"""
BREAD = "WEBVTT\n\n00:00:01.000 --> 00:00:09.000\nThe bread of Boris Tamm rests for sixteen hours.\n"


@pytest.fixture
def talks(tmp_path: Path, home: Path) -> Path:
    folder = tmp_path / "talks"
    asyncio.run(build_library(folder, {"comet.vtt": TALK, "bread.vtt": BREAD}))
    return folder


def test_a_question_is_narrowed_to_a_recording_and_a_time_and_a_missing_one_is_an_error(
    main: Any, talks: Path
) -> None:
    asked = ["ask", "-g", "video_rag", "Who knew Ada Ostrander?", "--source", "comet", "--json"]
    whole, later = (json.loads(main(*asked, *options)[1]) for options in ((), ("--from", "1:00")))
    assert "found by **Ada Ostrander**" in whole["text"]
    assert "found by" not in later["text"] and "kept the telescope" in later["text"]
    code, out, _ = main("ask", "-g", "video_rag", "Who found the comet?", "--source", "lecture.mp4")
    assert code == 3 and "lecture.mp4" in out and "comet.vtt" in out


@pytest.mark.parametrize("text", ["soon", "1:2:3:4", "-5", "1:-3", ""])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a time"):
        at_seconds(text)


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
