"""The commands of `deploy/compose.yaml`, run one after the other as plain processes with its variables."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from ragweave.app.commands.common import EXIT_STOPPED
from ragweave.tests.serve.conftest import QUESTION, TEXTS
from ragweave.tests.support.chroma import chroma_server
from ragweave.tests.support.postgres import Postgres
from ragweave.tests.support.serving import bearer, begin, killed_at_the_end, parse_events, run_events

ROOT = Path(__file__).resolve().parents[2]
FILE, PAGE = ROOT / "deploy" / "compose.yaml", ROOT / "docs" / "deploy.md"
pytestmark = pytest.mark.cluster


async def test_keys_are_made_both_servers_answer_for_each_other_and_the_worker_follows_a_folder(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compose = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    one, two, worker = (compose["services"][name] for name in ("one", "two", "worker"))
    assert one == two and one["environment"] == worker["environment"] and one["volumes"] == worker["volumes"]
    files = tmp_path / "files"
    files.mkdir()
    (files / "mill.md").write_text("# The mill\n\nThe mill of Ostrow has nine wheels.\n")
    program, *serve = one["command"]
    here = ["127.0.0.1" if word == "0.0.0.0" else word for word in serve[1:]]  # this machine alone
    with postgres.database() as url, chroma_server(tmp_path / "chroma") as chroma:
        secrets = {"database_url": url, "chat_key": ""}
        assert secrets.keys() == set(one["secrets"]) < compose["secrets"].keys()
        for name, secret in secrets.items():
            (tmp_path / name).write_text(f"{secret}\n", encoding="utf-8")
        environment = {
            **one["environment"],
            "RAGWEAVE_CHROMA_URL": chroma,
            "RAGWEAVE_HOME": str(tmp_path / "home"),
        }
        for name, value in environment.items():
            default = re.sub(r"\$\{\w+:-(.*)\}", r"\1", value)
            monkeypatch.setenv(name, default.replace("/run/secrets", str(tmp_path)))
        refused = ragweave(*serve[:1], *here)
        assert refused.returncode == 2 and "ragweave keys create" in refused.stderr
        line = re.search(rf"run --rm one {program} (keys create .*)", PAGE.read_text(encoding="utf-8"))
        assert line is not None
        key = bearer(ragweave(*line[1].split()).stdout.strip())
        names = re.findall(r"(\w+):8765\b", compose["configs"]["proxy"]["content"])
        async with AsyncExitStack() as stack:
            clients = []
            for name in names:
                client, _ = await stack.enter_async_context(killed_at_the_end(*here))
                ready = await client.get("/readyz", headers={"host": f"{name}:8765"})
                assert (
                    ready.json() == {"status": "ok"}
                    and (await client.get("/api/libraries")).status_code == 401
                )
                client.headers.update(key)
                clients.append(client)
            await answer_for_each_other(*clients)
            await follow_a_folder(worker, files, clients)


async def answer_for_each_other(a: httpx.AsyncClient, b: httpx.AsyncClient) -> None:
    """Upload to one server and ask the other; each follows what the other does."""
    files = [("files", (name, text.encode())) for name, text in TEXTS.items()]
    job = (await a.post("/api/upload", data={"library": "default"}, files=files)).json()["job"]
    events = parse_events((await b.get(f"/api/jobs/{job}/events")).text)
    assert [e["type"] for e in events][-2:] == ["finished", "end"] and events[-2]["indexed"] == len(TEXTS)
    run = await begin(b, QUESTION)
    assert "1874" in (await run_events(a, run["run"]))[-2]["answer"]["text"]


async def follow_a_folder(worker: dict[str, Any], files: Path, clients: list[httpx.AsyncClient]) -> None:
    """Start the worker over a folder: both servers answer from what comes there."""
    command = [str(files) if word == "/files" else word for word in worker["command"][1:]]
    line = [sys.executable, "-m", "ragweave.app.cli", *command]
    process = await asyncio.create_subprocess_exec(*line, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert json.loads(await process.stdout.readline())["indexed"] == 1
        (files / "weir.md").write_text("# The weir\n\nThe weir of Ostrow was built in 1911.\n")
        assert json.loads(await process.stdout.readline())["indexed"] == 1
        for client in clients:
            run = await begin(client, "When was the weir of Ostrow built?")
            assert "1911" in (await run_events(client, run["run"]))[-2]["answer"]["text"]
        process.send_signal(getattr(signal, worker["stop_signal"]))
        assert await process.wait() == EXIT_STOPPED
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def ragweave(*given: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the program."""
    return subprocess.run([sys.executable, "-m", "ragweave.app.cli", *given], capture_output=True, text=True)
