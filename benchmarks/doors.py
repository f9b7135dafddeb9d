"""Measure the CPU time that the endpoints of a server add to a question, and the start of a server.

    python benchmarks/doors.py [--rounds 4] [--json OUT]

Uses the notes of `serve.py`, in extractive mode and with a scripted model that answers at once. The questions
go to the graph in a process of its own, to the stream that the page reads, to LangServe, whole and as a
stream, and to the OpenAI-compatible endpoint. These take turns, a block of questions each, so that a busy
minute affects all of them.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
from printed import emit, options, own_home
from processor import spent

from ragweave.benchmarks.serve import (
    asking,
    build,
    check,
    client_of,
    langserve_route,
    openai_route,
    question,
    react,
    served,
)

BLOCK = 40
"""Questions to one endpoint before the next one has its turn."""


async def page_route(client: httpx.AsyncClient, n: int) -> None:
    """Ask as the page does: one request, whose response has all events of the run."""
    body = {"question": question(n), "library": "default", "graph": "agent", "context": {}}
    headers = {"accept": "text/event-stream"}
    async with client.stream("POST", "/api/ask", json=body, headers=headers) as stream:
        answer = await answer_of(stream)
    check(answer["answer"]["text"], n)


async def answer_of(stream: httpx.Response) -> dict[str, Any]:
    """Read a stream of events to its end, and return the answer."""
    found: dict[str, Any] = {}
    async for line in stream.aiter_lines():
        if line.startswith("data: {"):
            event = json.loads(line[6:])
            if event.get("type") == "answer":
                found = event
    if not found:
        raise ValueError("the stream has no answer")
    return found


async def langserve_stream(client: httpx.AsyncClient, n: int) -> None:
    """Ask through the stream of LangServe, as `RemoteRunnable` does."""
    body = {"input": {"question": question(n)}}
    async with client.stream("POST", "/langserve/agent/stream", json=body) as stream:
        answer = await answer_of(stream)
    check(answer["content"], n)


async def graph_alone() -> None:
    """Answer by the graph the questions whose numbers come from standard input, a block a line."""
    from ragweave.app import api
    from ragweave.serve.process import settle

    settle()
    line = await asyncio.to_thread(sys.stdin.readline)
    while line:
        for n in map(int, line.split()):
            check((await api.aask(question(n))).text, n)
        print("done", flush=True)
        line = await asyncio.to_thread(sys.stdin.readline)


async def by_door(
    server: int, client: httpx.AsyncClient, rounds: int, **environment: str
) -> dict[str, float]:
    """Return the CPU milliseconds of a question: of the graph in a process of its own, and by endpoint."""
    doors = {"page": page_route, "langserve": langserve_route, "langserve stream": langserve_stream}
    doors |= {"openai": openai_route}
    command = [sys.executable, __file__, "--graph"]
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    took: dict[str, list[float]] = {"graph": []}
    for name in doors:
        took[name] = []
    environment = {**os.environ, **environment}
    with subprocess.Popen(command, env=environment, **piped) as graph:  # noqa: ASYNC220 - once
        assert graph.stdin is not None
        assert graph.stdout is not None
        for of_round in range(rounds + 1):
            block = range(of_round * BLOCK, (of_round + 1) * BLOCK)
            for name, values in took.items():
                before = spent(graph.pid if name == "graph" else server)
                if name == "graph":
                    graph.stdin.write(" ".join(map(str, block)) + "\n")
                    graph.stdin.flush()
                    if not await asyncio.to_thread(graph.stdout.readline):
                        raise SystemExit("the graph did not answer")
                else:
                    for n in block:
                        await doors[name](client, n)
                values.append((spent(graph.pid if name == "graph" else server) - before) / BLOCK)
        graph.stdin.close()
    # The first round warms both processes up.
    return {name: round(statistics.median(values[1:]), 1) for name, values in took.items()}


async def from_start(home: Path, times: int = 3) -> dict[str, list[float]]:
    """Return seconds from the start of the server to its first answers, by the clock and of the processor."""
    figures: dict[str, list[float]] = {}
    for _ in range(times):
        began = time.perf_counter()
        with served(home) as (url, pid):
            async with client_of(url) as client:
                (await client.get("/api/context")).raise_for_status()
                request = time.perf_counter() - began, spent(pid) / 1000
                await page_route(client, 0)
                answer = time.perf_counter() - began, spent(pid) / 1000
        for name, both in {"first request": request, "first answer": answer}.items():
            for kind, value in zip(("wall", "processor"), both, strict=True):
                figures.setdefault(f"{name}, {kind}", []).append(round(value, 2))
    return figures


async def measure_doors(home: Path, rounds: int) -> dict[str, Any]:
    """Return what the endpoints add to the graph, and how long a server takes to start."""
    from ragweave.tests.support import ScriptedServer

    figures: dict[str, Any] = {}
    for name, of_each in (await from_start(home)).items():
        figures[f"{name} (s)"] = of_each
    with ScriptedServer(react=react) as model:
        for mode, chat in {"extractive": {}, "llm": asking(model.base_url)}.items():
            with served(home, **chat) as (url, pid):
                async with client_of(url) as client:
                    figures[f"{mode} (ms)"] = await by_door(pid, client, rounds, **chat)
    return figures


def main() -> None:
    """Print the figures, and write them where `--json` names a file."""
    if sys.argv[1:] == ["--graph"]:
        asyncio.run(graph_alone())
        return
    parser = options(__doc__)
    parser.add_argument("--rounds", type=int, default=4, help="blocks of questions by each door")
    given = parser.parse_args()
    with own_home() as folder:
        asyncio.run(build(folder / "texts"))
        figures = asyncio.run(measure_doors(folder / "home", given.rounds))
    emit(figures, given.json)


if __name__ == "__main__":
    main()
