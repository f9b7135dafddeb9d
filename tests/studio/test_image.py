"""What `langgraph build` makes an image of: it has what is imported, and its server brings what keeps the threads."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from ragweave.nodes.state import SAVED
from ragweave.tests.support.postgres import Postgres

ROOT = Path(__file__).resolve().parent.parent.parent
CONFIG = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))
GRAPHS: dict[str, str] = {name: spec["path"] for name, spec in CONFIG["graphs"].items()}
LIT = "When was the lamp of the lighthouse first lit?"


@pytest.fixture
def dockerfile(tmp_path: Path) -> str:
    """The file that the command prints, which needs no engine."""
    pytest.importorskip("langgraph_cli", reason="the extra `studio` is not installed")
    into = tmp_path / "Dockerfile"
    line = [sys.executable, "-m", "langgraph_cli", "dockerfile", "-c", str(ROOT / "langgraph.json"), str(into)]
    quiet = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGGRAPH_NO_VERSION_CHECK": "true"}
    done = subprocess.run(line, env={**os.environ, **quiet}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return into.read_text(encoding="utf-8")


def test_the_image_is_told_the_graphs_and_routes_and_installs_all_that_they_import(dockerfile: str) -> None:
    told = {name: json.loads(value) for name, value in re.findall(r"^ENV (\w+)='(.*)'$", dockerfile, re.M)}
    assert {name: spec["path"] for name, spec in told["LANGSERVE_GRAPHS"].items()} == GRAPHS
    app = told["LANGGRAPH_HTTP"]["app"]
    read_back = told["LANGGRAPH_CHECKPOINTER"]["serde"]["allowed_msgpack_modules"]
    assert read_back == [[kind.__module__, kind.__name__] for kind in SAVED]
    extras = tuple(re.findall(r"--extra (\w+)", dockerfile))
    assert dockerfile.index("--extra") < dockerfile.index("ADD . /deps/"), "the package comes last, over what it needs"
    wanted = [where.partition(":")[0] for where in (app, *GRAPHS.values())]
    code = f"import sys; import {', '.join(wanted)}; print(*{{m.partition('.')[0] for m in sys.modules}})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert lacking(loaded, extras) == set()
    assert "fastapi" in lacking(loaded, tuple(set(extras) - {"serve"})), "and without the extra it would be missed"


def lacking(modules: list[str], extras: tuple[str, ...]) -> set[str]:
    """Return the packages that modules come from, but for those of Ragweave with these extras and of the server."""
    spec = importlib.util.spec_from_file_location("inventory", ROOT / ".ci" / "inventory.py")
    assert spec is not None and spec.loader is not None
    inventory = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(inventory)
    there = {inventory.named(d.metadata["Name"]) for d in inventory.installed(extras)} | {"ragweave"}
    owners = metadata.packages_distributions()
    return {inventory.named(owners[m][0]) for m in modules if m in owners} - there - {"setuptools"}


def graph_of(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


@pytest.mark.cluster
@pytest.mark.parametrize("name", GRAPHS)
async def test_a_graph_has_no_saver_and_keeps_its_threads_in_that_of_a_server(
    name: str, stock: Any, postgres: Postgres
) -> None:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    stock({"lamp.md": "# The lighthouse\n\nThe lamp of the lighthouse was first lit on 3 October 1874.\n"})
    graph = graph_of(GRAPHS[name])
    assert graph.checkpointer is None and graph.store is None
    allowed = CONFIG["checkpointer"]["serde"]["allowed_msgpack_modules"]
    serde = JsonPlusSerializer(allowed_msgpack_modules=[tuple(kind) for kind in allowed])
    config: Any = {"configurable": {"thread_id": "t1"}}
    with postgres.database() as url:
        address = url.replace("postgresql+psycopg", "postgresql")
        async with AsyncPostgresSaver.from_conn_string(address) as saver:
            await saver.setup()
            saver.serde = serde
            asked = {"messages": [{"role": "user", "content": LIT}]}
            await graph.copy(update={"checkpointer": saver}).ainvoke(asked, config)
        async with AsyncPostgresSaver.from_conn_string(address) as saver:
            saver.serde = serde
            kept = (await graph.copy(update={"checkpointer": saver}).aget_state(config)).values
    assert [m.type for m in kept["messages"]] == ["human", "ai"]
    assert ("1874" in kept["answer"].text) is (name != "video_rag")
