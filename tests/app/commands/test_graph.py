"""`ragweave graph`: every graph, in words and as Mermaid."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from ragweave.app.api import GRAPHS, build_agent
from ragweave.app.commands.graph import meaning, shown
from ragweave.app.commands.options import graph_of
from ragweave.components import method
from ragweave.components.context import Context
from ragweave.components.method import PRESETS, knobs_of


@pytest.mark.parametrize("name", GRAPHS)
def test_every_step_is_listed_with_what_it_does(main: Any, name: str) -> None:
    code, out, _ = main("graph", name)
    assert code == 0
    for node in build_agent(name).get_graph().nodes:
        if not node.startswith("__"):
            assert f"\n{node} " in out
            assert meaning(node), f"nodes/{node}.py needs a docstring"


def test_the_agent_is_drawn_unless_another_graph_is_named(main: Any) -> None:
    assert main("graph")[1] == main("graph", "agent")[1] != main("graph", "crag")[1]


def test_a_step_is_told_with_what_may_follow_it(main: Any) -> None:
    (reason,) = [line for line in main("graph")[1].splitlines() if line.startswith("reason ")]
    assert "route" in reason and "generate" in reason


def test_mermaid_text_is_printed(main: Any) -> None:
    out = main("graph", "--mermaid")[1]
    assert "graph TD" in out and "search_web" in out


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


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("universalrag-paper", "universal-rag-paper"),
        ("ragfusion-seed", "rag-fusion-seed"),
        ("AutoRAG-paper", "auto-rag-paper"),
        ("autorag-paper-hotpotqa", "auto-rag-paper-hotpotqa"),
        ("videorag-paper", "video-rag-paper"),
    ],
)
def test_a_preset_is_found_as_the_papers_spell_their_names(main: Any, said: str, meant: str) -> None:
    assert main("graph", "--preset", said)[1] == main("graph", "--preset", meant)[1]
    assert Context(preset=cast(Any, said)) == Context(preset=cast(Any, meant))


def test_each_preset_is_a_file_and_each_file_a_preset() -> None:
    folder = Path(method.__file__).with_name("presets")
    assert sorted(PRESETS) == sorted(f.stem for f in folder.iterdir())


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_searches_as_its_paper_did_and_lets_the_model_write_as_it_likes(preset: str) -> None:
    context = Context(preset=cast(Any, preset))
    assert not context.rerank and context.check_by == "off" and context.sentences == 0
    assert context.method.fusion == {"rag-fusion-paper": "rrf", "video-rag-paper": "scores"}.get(preset, "dense")


def test_a_preset_that_is_not_there_is_refused_with_those_that_are(main: Any) -> None:
    code, _, err = main("graph", "--preset", "crag")
    assert code != 0 and "crag-paper-arc" in err


def test_a_preset_runs_its_own_graph_unless_another_is_named() -> None:
    assert graph_of(None, Context(preset="auto-rag-paper-nq")) == "auto_rag"
    assert graph_of("agent", Context(preset="auto-rag-paper-nq")) == "agent"
    assert graph_of(None, Context()) == "agent"
