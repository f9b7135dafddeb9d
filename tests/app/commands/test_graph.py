"""`ragweave graph`: every graph, in words and as Mermaid."""

from __future__ import annotations

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
    assert context.method.fusion == {"rag-fusion-paper": "rrf", "video-rag-paper": "scores"}.get(
        preset, "dense"
    )
    assert graph_of(None, context) == method.graph_of(preset) and graph_of("agent", context) == "agent"
