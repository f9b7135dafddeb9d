"""Of many libraries at two servers no key is told what another holds; `TEST_CANARIES=10000` asks for as many words."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import pytest

from ragweave.corpora.store.library import open_library
from ragweave.serve.app import create_app
from ragweave.serve.settings import ServeSettings
from ragweave.tests.support import build_library
from ragweave.tests.support.serving import in_process

CANARY = "Zanzibold"
CANARIES = int(os.environ.get("TEST_CANARIES", "24"))
pytestmark = pytest.mark.both


async def test_of_many_libraries_neither_server_tells_a_key_what_another_one_holds(tmp_path: Path, home: Path) -> None:
    count, told_to_owners = min(50, max(3, CANARIES // 8)), 0
    each, names = CANARIES // count, [f"house {n}" for n in range(count)]
    for n, name in enumerate(names):
        words = (f"The code word of drawer {k} is {CANARY}{n}x{k}." for k in range(each))
        await build_library(tmp_path / name, {"drawers.md": "# Drawers\n\n" + "\n\n".join(words)}, name)
    servers = [create_app(ServeSettings(per_minute=1_000_000)) for _ in range(2)]
    secrets = [servers[0].state.keys.create(name, ((await open_library(name)).id,))[1] for name in names]
    async with in_process(servers[0]) as one, in_process(servers[1]) as other:

        async def ask(n: int, k: int) -> int:
            """Ask for a word with the key of another library, and of its own; return whether the owner got it."""
            asker, client = (n + 1 + k) % count, (one, other)[k % 2]
            if asker == n:
                asker = (n + 1) % count
            key = {"authorization": f"Bearer {secrets[asker]}"}
            body = {"query": f"What is the code word of drawer {k}, {CANARY}{n}x{k}?"}
            told = (await client.post("/search", json=body, headers=key)).json()["results"]
            if k % 20 == 0:
                asked = {"messages": [{"role": "user", "content": body["query"].partition(",")[0]}], "model": "agent"}
                told.append((await client.post("/v1/chat/completions", json=asked, headers=key)).json())
            assert set(re.findall(rf"{CANARY}(\d+)x", str(told).replace(body["query"], ""))) <= {str(asker)}, body
            named = await client.post("/search", json={**body, "library": names[n]}, headers=key)
            assert named.status_code == 404 and CANARY not in named.text
            mine = await client.post("/search", json=body, headers={"authorization": f"Bearer {secrets[n]}"})
            return f"{CANARY}{n}x{k}" in mine.text

        for k in range(each):
            told_to_owners += sum(await asyncio.gather(*(ask(n, k) for n in range(count))))
    assert told_to_owners > 0.9 * count * each
    print(
        f"\n{count * each} words of {count} libraries, asked for at two servers: none told, {told_to_owners} to owners"
    )
