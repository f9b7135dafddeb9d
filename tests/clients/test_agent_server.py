"""The recipes over `langgraph dev`: RemoteGraph, the SDK, A2A and MCP; each is a file of examples/."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import httpx
import pytest

from ragweave.tests.clients.matrix import ROOT
from ragweave.tests.support.agent_server import agent_server
from ragweave.tests.support.library import build_library
from ragweave.tests.support.notes import TEXTS

pytestmark = [
    pytest.mark.clients,
    pytest.mark.skipif(find_spec("langgraph_cli") is None, reason="langgraph-cli is missing: make setup-dev"),
]
LIT, SAILS = "When was the lamp of the lighthouse first lit?", "How often does the ferry sail?"


@pytest.fixture
async def server(home: Path, tmp_path: Path) -> AsyncIterator[str]:
    """Serve the graphs with `langgraph dev`, in a folder of its own."""
    await build_library(tmp_path / "notes", TEXTS)
    (folder := tmp_path / "dev").mkdir()
    async with agent_server(folder) as address:
        yield address


def example(name: str) -> Any:
    """Import a file of examples/."""
    spec = spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_the_recipes_of_the_agent_server_run_and_unknown_knobs_are_refused(
    server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from langgraph_sdk import get_client

    assert "1874" in await example("remote_graph").main(LIT, server)
    protocol = example("agent_protocol")
    assert "1874" in await protocol.main(LIT, server)
    told = capsys.readouterr().out
    assert "check:" in told and "'agent'" in told
    _, conversation = await protocol.by_a2a(LIT, server)
    assert "four times a day" in (await protocol.by_a2a(SAILS, server, conversation))[0]
    assert "1874" in await protocol.by_mcp(LIT, server)
    sdk = get_client(url=server)
    end: Any = await sdk.runs.wait(None, "agent", input={"question": LIT}, context={"top_k": 2})
    assert "1874" in end["answer"]["text"]
    odd: Any = [
        {"role": "critic", "content": "x"},
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": "{x"}}]},
        {"role": "tool", "content": "42"},
        {"role": "user", "content": LIT},
        {"role": "assistant", "content": "It"},
    ]
    end = await sdk.runs.wait(None, "agent", input={"messages": odd})
    assert "1874" in end["answer"]["text"]
    assert "Not used of what was sent: a message that cannot be read (2 times)." in end["answer"]["notes"]
    wrong: Any
    for wrong in (
        {"context": {"top_kk": 1}},
        {"context": {"colour": 1}},
        {"config": {"configurable": {"top_kk": 1}}},
    ):
        with pytest.raises(httpx.HTTPStatusError, match="422"):
            await sdk.runs.wait(None, "agent", input={"question": LIT}, **wrong)
