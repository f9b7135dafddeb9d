"""Saved runs are done again step by step, and only what a change touches is done anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langgraph.types import Overwrite
from typer.testing import CliRunner

from ragweave.app import api, cli
from ragweave.evals.off import OFF, WITHOUT, check_off, without
from ragweave.evals.replay import Player, Recorder, Saved, both, decode, encode
from ragweave.minds.context import Context
from ragweave.minds.evidence import Sentence
from ragweave.models.errors import InputError
from ragweave.nodes.answer import Answer, NodeUsage
from ragweave.tests.support import build_library

TEXTS = {
    "pump.md": "# Pump\n\nThe pump stands in the cellar. It was built by the Orlow company in 1987.",
    "orlow.md": "# Orlow\n\nThe Orlow company was founded in Tartu by Mart Saar. It makes pumps and valves.",
    "garden.md": "# Garden\n\nThe roses need water twice a week in summer. The hedge is cut in March.",
}
QUESTION = "Who founded the company that built the pump?"


async def run(wrap: Any = None, **knobs: Any) -> Any:
    return await done(wrap, "agent", **knobs)


async def done(wrap: Any, graph: str, **knobs: Any) -> Any:
    return await api.astate(QUESTION, context=Context(mind="small", **knobs), graph=api.build_agent(graph, wrap=wrap))


async def saved(**knobs: Any) -> tuple[Saved, Any]:
    recorder = Recorder()
    state = await run(recorder.wrap, **knobs)
    kept = Saved(
        question=QUESTION,
        graph="agent",
        context={"mind": "small", **knobs},
        steps=recorder.steps,
        answer=state["answer"].model_dump(mode="json"),
    )
    return Saved.model_validate_json(kept.model_dump_json()), state


@pytest.fixture
async def library(home: Path, tmp_path: Path) -> None:
    await build_library(tmp_path / "files", TEXTS)


@pytest.mark.usefixtures("library")
async def test_a_replay_gives_back_every_step_and_the_same_answer() -> None:
    kept, before = await saved()
    player = Player(kept)
    after = await run(player.wrap)
    assert after["answer"].text == before["answer"].text
    assert not player.anew and player.stored["retrieve"] >= 2
    assert after["hops"] == before["hops"] and len(after["hops"]) == 2


@pytest.mark.usefixtures("library")
async def test_a_replay_needs_neither_the_library_nor_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, before = await saved()

    async def closed(name: str) -> Any:
        raise AssertionError("the library was opened")

    monkeypatch.setattr("ragweave.minds.desk.open_library", closed)
    monkeypatch.setattr("ragweave.nodes.retrieve.open_library", closed)
    after = await run(Player(kept).wrap)
    assert after["answer"].text == before["answer"].text
    assert sum(u.seconds for u in after["usage"] if u.node != "condense") == 0, "what was stored costs nothing now"


@pytest.mark.usefixtures("library")
async def test_a_changed_knob_does_anew_what_reads_it_and_searches_nothing() -> None:
    kept, _ = await saved()
    player = Player(kept)
    await run(player.wrap, sentences=1)
    assert {"route", "expand", "retrieve"} <= set(player.stored)
    assert {"fuse", "generate"} <= set(player.anew) and not {"retrieve", "route"} & set(player.anew)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("off", OFF)
async def test_a_node_left_out_is_not_run_and_the_run_still_ends_in_an_answer(off: Any) -> None:
    kept, _ = await saved()
    player = Player(kept)
    after = await run(both(without([off]), player.wrap))
    assert after["answer"] is not None and after["answer"].text
    assert off == "fuse" or not player.stored[off] + player.anew[off]
    if off == "reason":
        assert len(after["hops"]) == 1 and after["hops"][0]["by"] == "off"
    if off == "grade":
        assert after["grade"]["action"] == "correct"
    if off == "fuse":
        assert [e["hop"] for e in after["evidence"]]
    if off == "refine":
        assert all(s["text"] in {e["text"] for e in after["evidence"]} for s in after["knowledge"])


@pytest.mark.parametrize("graph", ["universal_rag", "rag_fusion", "crag", "auto_rag"])
@pytest.mark.usefixtures("library")
async def test_every_graph_can_be_recorded_and_replayed(graph: str) -> None:
    recorder = Recorder()
    before = await done(recorder.wrap, graph)
    kept = Saved(question=QUESTION, graph=graph, context={}, steps=recorder.steps, answer={})
    player = Player(kept)
    after = await done(player.wrap, graph)
    assert after["answer"].text == before["answer"].text and not player.anew


def test_what_stands_in_for_each_node_is_said() -> None:
    assert set(WITHOUT) == set(OFF)
    assert check_off(["grade", "grade", "route"]) == ["grade", "route"]
    with pytest.raises(InputError, match="'check' cannot be left out"):
        check_off(["check"])


_plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text().filter(lambda k: k != "$"), inner, max_size=3)
    ),
)


@given(_plain)
def test_plain_values_come_back_as_they_were(value: Any) -> None:
    assert decode(json.loads(json.dumps(encode(value)))) == value


def test_typed_values_come_back_with_their_types() -> None:
    update = {
        "found": Overwrite([]),
        "draft": [Sentence(text="a", support="supported", citations=(1,))],
        "answer": Answer(text="b", usage=(NodeUsage(node="x"),)),
        "messages": [AIMessage(content="c", id="d")],
    }
    back = decode(json.loads(json.dumps(encode(update))))
    assert back["found"].value == [] and back["draft"] == update["draft"] and back["answer"] == update["answer"]
    assert (back["messages"][0].content, back["messages"][0].id) == ("c", "d")


def test_what_is_no_part_of_a_state_is_neither_saved_nor_made() -> None:
    with pytest.raises(TypeError, match="object"):
        encode({"a": object()})
    with pytest.raises(InputError, match="'Path' that cannot be read"):
        decode({"$": "Path", "value": "/"})
    with pytest.raises(InputError, match="'Sentence'"):
        decode({"$": "Sentence", "value": {"support": "whatever"}})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{}", "not a saved run"),
        ("no json", "not a saved run"),
        (
            '{"format": 99, "question": "q", "graph": "agent", "context": {}, "steps": [], "answer": {}}',
            "another version",
        ),
        ('{"question": "q", "graph": "agent", "context": {"top_k": -1}, "steps": [], "answer": {}}', "not a saved run"),
    ],
)
def test_a_file_that_is_no_saved_run_is_told_in_a_sentence(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=why):
        Saved.read(tmp_path / "run.json")
    with pytest.raises(InputError, match="not a saved run"):
        Saved.read(tmp_path / "missing.json")


@pytest.mark.usefixtures("library")
async def test_the_commands_save_replay_and_compare(tmp_path: Path) -> None:
    import asyncio

    def command(*words: str) -> Any:
        return CliRunner().invoke(cli.app, [*words])

    path = tmp_path / "runs" / "run.json"
    done = await asyncio.to_thread(command, "ask", QUESTION, "--mind", "small", "--save", str(path))
    assert done.exit_code == 0 and path.stat().st_mode & 0o777 == 0o600
    done = await asyncio.to_thread(command, "replay", str(path))
    assert "done anew: nothing. The answer is the saved one." in " ".join(done.stdout.split())
    done = await asyncio.to_thread(command, "replay", str(path), "--without", "reason")
    assert "Without reason." in done.stdout and "The answer is not the saved one" in " ".join(done.stdout.split())
    done = await asyncio.to_thread(command, "replay", str(path), "--set", "sentences=99")
    assert done.exit_code != 0 and isinstance(done.exception, InputError)
