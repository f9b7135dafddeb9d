"""Real clients against a server on loopback (`make test-clients` installs them, apart from what development needs)."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from ragweave.serve.app import create_app
from ragweave.serve.settings import ServeSettings
from ragweave.tests.clients.matrix import CLIENTS, COLUMNS, HERE, NODE, PYTHON, ROOT, Client, rows
from ragweave.tests.clients.programs.common import PICTURE
from ragweave.tests.support.library import build_library
from ragweave.tests.support.notes import TEXTS
from ragweave.tests.support.serving import on_loopback

WORDS = {"follow-up": "four times a day", "file": "1911 by Rosa", "citations": "/open/"}
"""What an answer holds, by what was asked for; of all others the date."""
BY_MCP = {"citations": '"quotes"', "tools": "open_citation"}


@pytest.fixture
async def app(home: Path, tmp_path: Path) -> FastAPI:
    """A server over two notes."""
    await build_library(tmp_path / "notes", TEXTS)
    return create_app(ServeSettings())


@pytest.mark.clients
@pytest.mark.parametrize("client", CLIENTS, ids=[client.name for client in CLIENTS])
async def test_a_real_client_gets_what_the_table_says(client: Client, app: FastAPI) -> None:
    program = HERE / "programs" / client.program
    async with on_loopback(app) as address:
        if program.suffix == ".py":
            if not PYTHON.exists():
                pytest.skip("the clients are not installed: make test-clients")
            told = await _told(str(PYTHON), str(program), address)
        else:
            if not (NODE / "node_modules").is_dir() or not shutil.which("node"):
                pytest.skip("node or its packages are missing: make test-clients")
            told = await _told(
                "node", "--input-type=module", "-", address, PICTURE, source=program.read_bytes()
            )
    words = {**WORDS, **(BY_MCP if client.name.startswith("MCP") else {})}
    assert {*client.does} <= told.keys()
    for what, text in told.items():
        kind = next(
            (column for column in COLUMNS if column in what), "follow-up" if "second" in what else "chat"
        )
        assert words.get(kind, "3 October 1874") in text.replace("**", ""), (what, text)


async def _told(*command: str, source: bytes = b"") -> dict[str, Any]:
    env = {
        **os.environ,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "PYTHONPATH": "",
        "OTEL_SDK_DISABLED": "true",
    }
    process = await asyncio.create_subprocess_exec(
        *command, cwd=NODE if source else ROOT, env=env, stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        async with asyncio.timeout(120):
            out, err = await process.communicate(source)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, err.decode()[-3_000:]
    told: dict[str, Any] = json.loads(out.decode().strip().splitlines()[-1])
    return told


def test_the_table_of_clients_is_that_of_the_tests() -> None:
    page = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    assert [row for row in rows() if row not in page] == []
