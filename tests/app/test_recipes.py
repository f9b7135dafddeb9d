"""Every recipe of docs/recipes.md works: the programs of `examples/`, and settings for other programs."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
import yaml
from dotenv import dotenv_values
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from openai import AsyncOpenAI

from ragweave.models.subprocess_env import import_path
from ragweave.nodes.state import SAVED
from ragweave.serve.app import create_app
from ragweave.serve.settings import ServeSettings
from ragweave.tests.support.library import build_library
from ragweave.tests.support.serving import on_loopback

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
QUESTION = "When was the lamp of the lighthouse first lit?"


@pytest.fixture(autouse=True)
async def _notes(tmp_path: Path, home: Path) -> None:
    await build_library(tmp_path / "notes", {"a.md": "# The lighthouse\n\nIts lamp was first lit in 1874.\n"})


def recipe(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_names_every_recipe_and_each_is_there() -> None:
    page = (EXAMPLES.parent / "docs" / "recipes.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\.\./examples/([\w.]+)", page))
    there = {p.name for p in EXAMPLES.iterdir() if p.is_file()} - {"README.md", "demo.py", "news.py"}
    assert named == there


async def test_a_program_streams_from_a_server(capsys: pytest.CaptureFixture[str]) -> None:
    async with on_loopback(create_app(ServeSettings())) as address:
        text = await asyncio.to_thread(recipe("remote_runnable").main, QUESTION, address)
    assert "1874" in text and "fuse: " in capsys.readouterr().out


async def test_a_chain_writes_from_what_the_retriever_found() -> None:
    chain = recipe("retriever_in_a_chain").chain(
        RunnableLambda(lambda prompt: AIMessage(prompt.to_string()[:400]))
    )
    assert "1874" in await chain.ainvoke(QUESTION)


async def test_an_assistant_looks_something_up(tmp_path: Path) -> None:
    settings = json.loads((EXAMPLES / "mcp.json").read_text(encoding="utf-8"))
    row = settings["mcpServers"]["ragweave"]
    assert row["command"] == "ragweave"
    row |= {"command": sys.executable, "args": ["-m", "ragweave.app.cli", *row["args"]]}
    (tmp_path / "mcp.json").write_text(json.dumps(settings))
    client = recipe("mcp_client")
    assert "1874" in await client.main(QUESTION, client.server_of(tmp_path / "mcp.json"))


async def test_a_handler_sees_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    traced: Any = recipe("traced")
    printed = traced.Printed()
    assert "1874" in await traced.main(QUESTION, [printed])
    assert {"route", "retrieve", "fuse", "grade", "check"} <= set(printed.steps)


async def test_the_settings_of_chat_apps_lead_to_a_model_that_answers() -> None:
    config = yaml.safe_load((EXAMPLES / "librechat.yaml").read_text(encoding="utf-8"))
    (libre,) = config["endpoints"]["custom"]
    webui = dotenv_values(EXAMPLES / "open_webui.env")
    assert libre["baseURL"] == webui["OPENAI_API_BASE_URL"] == "http://127.0.0.1:8765/v1"
    async with on_loopback(create_app(ServeSettings())) as address:
        app = AsyncOpenAI(base_url=f"{address}/v1", api_key=webui["OPENAI_API_KEY"])
        assert set(libre["models"]["default"]) <= {model.id for model in (await app.models.list()).data}
        asked: Any = [{"role": "user", "content": QUESTION}]
        reply = await app.chat.completions.create(model=libre["models"]["default"][0], messages=asked)
        await app.close()
    assert "1874" in str(reply.choices[0].message.content)
    assert httpx.URL(libre["baseURL"]).host == "127.0.0.1"


STRICT = """
import asyncio, logging, runpy, sys
logging.basicConfig(level=logging.WARNING, stream=sys.stdout)
sys.path.insert(0, sys.argv[1])
import own_project
print(*asyncio.run(own_project.main(sys.argv[2:])), sep="\\n")
"""


async def test_a_project_of_ones_own_continues_a_conversation_if_unnamed_types_are_refused() -> None:
    command = [
        sys.executable,
        "-W",
        "error::UserWarning",
        "-c",
        STRICT,
        str(EXAMPLES),
        QUESTION,
        "And who lit it?",
    ]
    environment = {**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true", "PYTHONPATH": import_path()}
    process = await asyncio.create_subprocess_exec(*command, env=environment, stdout=-1, stderr=-1)
    out, err = (part.decode() for part in await process.communicate())
    assert process.returncode == 0, err
    assert "1. " in out and "1874" in out and "\n2. " in out
    assert not [line for line in (out + err).splitlines() if "nregistered" in line or "Blocked" in line]


def test_the_types_that_a_project_names_are_those_of_the_state() -> None:
    mine = json.loads((EXAMPLES / "own_project.json").read_text(encoding="utf-8"))
    named = mine["checkpointer"]["serde"]["allowed_msgpack_modules"]
    ours = [[kind.__module__, kind.__name__] for kind in SAVED]
    assert [row for row in named if row[0] != "own_project"] == ours and ["own_project", "Slip"] in named
    assert mine["graphs"]["agent"] == "ragweave.graphs.agent:graph"
