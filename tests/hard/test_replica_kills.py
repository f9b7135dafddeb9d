"""A server is killed again and again while it answers or indexes: another one goes on, nothing is lost or doubled."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from ragweave.tests.support.library import build_library
from ragweave.tests.support.server import Received, ScriptedServer
from ragweave.tests.support.serving import killed_at_the_end, parse_events

pytestmark = [
    pytest.mark.hard,
    pytest.mark.cluster,
    pytest.mark.parametrize("engine", ["postgres"], indirect=True),
]

NOTE = "# The lighthouse\n\n" + " ".join(
    f"The lamp was painted in {year}. The keeper of {year} was called Keeper {year}.\n\n"
    for year in range(1874, 1890)
)
QUESTION = "When was the lamp of the lighthouse painted?"
ASKERS = 4


def react(request: Received) -> Any:
    """Answer in sixteen sentences, one after the other."""
    if "numbered evidence" in request.prompt:
        return [part for year in range(1874, 1890) for part in ("The lamp was painted ", f"in {year} [1]. ")]
    return "paragraph"


class Servers:
    """Two servers, each of which is started anew where it was killed."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment, self.stacks = environment, [AsyncExitStack(), AsyncExitStack()]
        self.now: list[Any] = [None, None]

    async def start(self, n: int) -> None:
        self.now[n] = await self.stacks[n].enter_async_context(killed_at_the_end(**self.environment))

    async def kill(self, n: int) -> None:
        self.now[n][1].kill()
        await self.stacks[n].aclose()

    def client(self, n: int) -> httpx.AsyncClient:
        client: httpx.AsyncClient = self.now[n % 2][0]
        return client


async def ask(servers: Servers, at: int) -> tuple[int, dict[str, Any]]:
    """Ask until somebody takes the question; return which server it was, and the ids of the run."""
    while True:
        try:
            body = {"question": QUESTION, "graph": "crag", "context": {"mode": "llm"}}
            answer = await servers.client(at).post("/api/ask", json=body)
            assert answer.status_code == 202, answer.text
            return at, answer.json()
        except (httpx.TransportError, RuntimeError):  # the client of a server that was killed is closed
            at += 1
            await asyncio.sleep(0.1)


async def follow(servers: Servers, at: int, run: str, seen: list[dict[str, Any]]) -> int:
    """Add to `seen` what a run tells until it ends, coming back behind the last event; return how often."""
    times = -1
    while not seen or seen[-1]["type"] != "end":
        times += 1
        text = ""
        try:
            given = {"after": len(seen)}
            async with servers.client(at + times).stream(
                "GET", f"/api/runs/{run}/events", params=given
            ) as stream:
                assert stream.status_code == 200
                async for part in stream.aiter_text():
                    text += part.replace("\r\n", "\n")
                    whole, _, text = text.rpartition("\n\n")
                    seen += parse_events(whole)
        except (httpx.TransportError, RuntimeError):
            await asyncio.sleep(0.1)
    return times


async def test_no_reader_misses_or_gets_twice_what_a_killed_server_told(home: Path, tmp_path: Path) -> None:
    kills, rng, ended = int(os.environ.get("TEST_REPLICA_KILLS", 3)), random.Random(7), Counter[str]()
    await build_library(tmp_path / "notes", {"lighthouse.md": NOTE})
    with ScriptedServer(react=react, part_delay=0.15) as model:
        servers = Servers(
            {"RAGWEAVE_CHAT": "scripted", "RAGWEAVE_CHAT_URL": model.base_url, "RAGWEAVE_CHAT_KEY": "none"}
        )
        await asyncio.gather(servers.start(0), servers.start(1))
        over = asyncio.Event()

        async def asker(n: int) -> None:
            while not over.is_set():
                at, run = await ask(servers, n)
                seen: list[dict[str, Any]] = []
                times = await follow(servers, at, run["run"], seen)
                ended["came back"] += times
                assert [e["id"] for e in seen] == list(range(1, len(seen) + 1))
                assert [e["type"] for e in seen].count("end") == 1
                shown, again = list[str](), False
                for event in seen:
                    ended["resumed"] += event["type"] == "resumed"
                    again |= event["type"] == "resumed"
                    if event["type"] == "sentence":
                        shown, again = [*([] if again else shown), event["text"]], False
                assert len(set(shown)) == len(shown)
                turns = await read(servers, run["thread"])
                kept = turns[0]["answer"]["sentences"] if turns[0]["answer"] else turns[0]["trail"]
                assert [t["status"] for t in turns] == [seen[-1]["status"]]
                assert [
                    e["text"] for e in kept if "text" in e and e.get("type", "sentence") == "sentence"
                ] == shown
                ended.update(e["problem"]["code"] for e in seen if e["type"] == "error")
                ended[seen[-1]["status"]] += 1
                ended["sentences"] += len(shown)

        async with asyncio.TaskGroup() as group:
            for n in range(ASKERS):
                group.create_task(asker(n))
            for n in range(kills):
                await asyncio.sleep(rng.uniform(1, 5))
                await servers.kill(n % 2)
                await servers.start(n % 2)
            over.set()
        assert ended["interrupted"] == ended["failed"] <= ended["came back"], ended
        for n in range(2):
            await servers.kill(n)
    print(f"\n{kills} kills of a server in mid-answer: {dict(ended)}")


async def test_what_a_killed_server_was_indexing_another_one_ends_once(home: Path, tmp_path: Path) -> None:
    kills, rng, amid = int(os.environ.get("TEST_REPLICA_KILLS", 3)), random.Random(8), 0
    await build_library(tmp_path / "notes", {"lighthouse.md": NOTE})
    servers, sent = Servers({}), set[str]()
    await asyncio.gather(servers.start(0), servers.start(1))

    async def indexed(at: int) -> list[str]:
        found = (await servers.client(at).get("/api/sources", params={"library": "default"})).json()[
            "sources"
        ]
        assert {s["status"] for s in found} == {"ok"}
        return [s["name"] for s in found if s["name"] != "lighthouse.md"]

    for n in range(kills):
        batch = {
            f"{n} {k}.md": f"# Mill {k}\n\nMill {k} of round {n} has {7 * n + k} wheels.\n" for k in range(40)
        }
        files = [("files", (name, text.encode())) for name, text in batch.items()]
        taken = await servers.client(n).post("/api/upload", data={"library": "default"}, files=files)
        assert taken.status_code == 202 and set(taken.json()["files"]) == set(batch)
        sent |= set(batch)
        await asyncio.sleep(
            rng.uniform(0, 4) if n else 0
        )  # the first one is killed in mid-index on any machine
        amid += set(await indexed(n + 1)) != sent
        await servers.kill(n % 2)
        for _ in range(600):
            if set(await indexed(n + 1)) == sent:
                break
            await asyncio.sleep(0.5)
        await servers.start(n % 2)
    assert sorted(await indexed(0)) == sorted(sent) and amid
    found = await servers.client(1).post("/search", json={"query": "How many wheels has mill 17 of round 0?"})
    assert sum("Mill 17 of round 0 has" in row["text"] for row in found.json()["results"]) == 1
    for n in range(2):
        await servers.kill(n)
    print(f"\n{kills} kills, {amid} of them in mid-index: {len(sent)} files, each indexed, none twice")


async def read(servers: Servers, thread: str) -> list[dict[str, Any]]:
    """Return the turns of a conversation, from whichever server there is."""
    for n in range(1_000):
        try:
            found: list[dict[str, Any]] = (await servers.client(n).get(f"/api/threads/{thread}")).json()[
                "turns"
            ]
            return found
        except (httpx.TransportError, RuntimeError):
            await asyncio.sleep(0.1)
    raise TimeoutError(thread)
