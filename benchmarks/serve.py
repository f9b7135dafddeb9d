"""The server under load.

    python benchmarks/serve.py [--latency 0.2] [--many 2000] [--replicas | --workers] [--json OUT]

Starts `ragweave serve` as a process of its own over a library of 200 notes, and asks it over HTTP: 1, 10, 20
and 50 askers at once, each with the next question as soon as the last one is answered. The clients run in
this process and share the machine with the server. A scripted server of fixed latency stands in for a
language model. With `--replicas` one and two servers over one PostgreSQL and one Chroma server are asked by
1, 10, 50 and 200, with `--workers` one and two workers of a server over the files of its home; whoever is
told to wait (429) asks again. `cpu_ms` is the time of a processor that an answer takes in each program, where
/proc tells it; `here` are the askers and the model.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from processor import spent

NOTES = 200
LEVELS = (1, 10, 20, 50)
CROWDS = (1, 10, 50, 200)
Ask = Callable[[httpx.AsyncClient, int], Awaitable[tuple[float, float]]]


def question(n: int) -> str:
    """Return the n-th question."""
    return f"When was the Observatory of Velmora {n % NOTES} opened?"


def year(n: int) -> str:
    """Return its answer."""
    return str(1700 + n % NOTES)


async def build(folder: Path) -> None:
    """Index the notes."""
    from ragweave.tests.support.library import build_library

    texts = {
        f"{n}.md": (
            f"# Velmora {n}\n\nThe Observatory of Velmora {n} was opened in {year(n)} on Mount Helder.\n"
        )
        for n in range(NOTES)
    }
    await build_library(folder, texts)


def react(received: Any) -> Any:
    """Answer in the one call that an easy question takes."""
    found = re.search(r"Observatory of (Velmora \d+) opened", str(received.messages[-1]["content"]))
    if found is None:
        return "Final Answer: UNKNOWN."
    return f"Final Answer: The Observatory of {found[1]} was opened in {year(int(found[1].split()[1]))} [1]."


def asking(url: str) -> dict[str, str]:
    """Return the variables of a server that asks the scripted model of that address."""
    chat = {"RAGWEAVE_CHAT": "openai:scripted", "RAGWEAVE_CHAT_URL": url, "RAGWEAVE_CHAT_CACHE": "false"}
    return {**chat, "RAGWEAVE_CHAT_WIDTH": "200"}


@contextmanager
def served(home: Path, *options: str, **environment: str) -> Iterator[tuple[str, int]]:
    """Start the server; yields its address and its process id."""
    limits = {"RAGWEAVE_SERVE_PER_MINUTE": "1000000", "RAGWEAVE_HOME": str(home)}
    command = [sys.executable, "-m", "ragweave.app.cli", "serve", "--port", "0", "--log", "none", *options]
    with subprocess.Popen(
        command, env={**os.environ, **limits, **environment}, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        told = process.stdout.readline()
        found = re.search(r"http://\S+", told)
        if found is None:
            raise SystemExit(f"the server did not start: {told}")
        try:
            yield found.group(), process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


async def native(client: httpx.AsyncClient, n: int) -> tuple[float, float]:
    """Ask through the API of the page; returns seconds to the first checked sentence and to the answer."""
    began = time.perf_counter()
    answer = await client.post("/api/ask", json={"question": question(n)})
    return await followed(client, answer, n, began)


async def by_turns(clients: Sequence[httpx.AsyncClient], _: httpx.AsyncClient, n: int) -> tuple[float, float]:
    """Ask one server and follow the answer on the next, as where requests go to servers by turns."""
    began, asked = time.perf_counter(), clients[n % len(clients)]
    while (answer := await asked.post("/api/ask", json={"question": question(n)})).status_code == 429:  # noqa: ASYNC110
        await asyncio.sleep(float(answer.headers["retry-after"]))
    return await followed(clients[(n + 1) % len(clients)], answer, n, began)


async def followed(
    client: httpx.AsyncClient, asked: httpx.Response, n: int, began: float
) -> tuple[float, float]:
    """Read what a run tells to its end; returns seconds to the first checked sentence and to the end."""
    run, first, answered = asked.raise_for_status().json()["run"], 0.0, False
    async with client.stream("GET", f"/api/runs/{run}/events") as stream:
        async for line in stream.aiter_lines():
            if line == "event: sentence" and not first:
                first = time.perf_counter() - began
            elif line.startswith('data: {"type": "answer"'):
                check(json.loads(line[6:])["answer"]["text"], n)
                answered = True
    if not answered:
        raise ValueError(f"{question(n)} got no answer")
    return first, time.perf_counter() - began


async def openai_route(client: httpx.AsyncClient, n: int) -> tuple[float, float]:
    """Ask through the OpenAI-compatible door."""
    began = time.perf_counter()
    body = {"model": "agent", "messages": [{"role": "user", "content": question(n)}]}
    answer = (await client.post("/v1/chat/completions", json=body)).raise_for_status().json()
    check(answer["choices"][0]["message"]["content"], n)
    return 0.0, time.perf_counter() - began


async def langserve_route(client: httpx.AsyncClient, n: int) -> tuple[float, float]:
    """Ask through LangServe."""
    began = time.perf_counter()
    body = {"input": {"question": question(n)}}
    answer = (await client.post("/langserve/agent/invoke", json=body)).raise_for_status().json()
    check(answer["output"]["content"], n)
    return 0.0, time.perf_counter() - began


def check(text: str, n: int) -> None:
    """Refuse a wrong answer: a fast one would be worth nothing.

    Raises:
        ValueError: it is wrong.
    """
    if year(n) not in text:
        raise ValueError(f"{question(n)} {text}")


async def load(client: httpx.AsyncClient, askers: int, total: int, ask: Ask = native) -> dict[str, Any]:
    """Let so many askers ask in all so many questions."""
    waiting = iter(range(total))
    firsts: list[float] = []
    walls: list[float] = []
    errors: list[str] = []

    async def one() -> None:
        for n in waiting:
            try:
                first, wall = await ask(client, n)
                firsts.append(first * 1000)
                walls.append(wall * 1000)
            except (httpx.HTTPError, ValueError, KeyError) as error:
                errors.append(f"{type(error).__name__}: {error}")

    began = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(askers)))
    seconds = time.perf_counter() - began
    row: dict[str, Any] = {"askers": askers, "questions": total, "errors": len(errors)}
    row |= {f"p{p}": round(percentile(walls, p)) for p in (50, 90, 95, 99)}
    row |= {"first_p50": round(percentile(firsts, 50)), "per_second": round(len(walls) / seconds, 1)}
    if errors:
        row["an_error"] = errors[0][:200]
    return row


def percentile(values: list[float], p: int) -> float:
    """Return the p-th percentile by nearest rank, 0 for no values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-p * len(ordered) // 100) - 1))] if ordered else 0.0


def megabytes(pid: int) -> int:
    """Return the resident memory of a process in MiB; 0 where the system does not tell."""
    status = Path(f"/proc/{pid}/status")
    found = re.search(r"VmRSS:\s+(\d+)", status.read_text()) if status.exists() else None
    return int(found.group(1)) // 1024 if found else 0


def programs(servers: Sequence[int], database: int) -> dict[str, float]:
    """Return the milliseconds of a processor by program; what else this process has started is the Chroma server."""
    here, served = time.process_time() * 1000, sum(map(spent, servers))
    found = {"servers": served, "here": here}
    return found | (
        {"postgres": spent(database), "chroma": spent(os.getpid()) - here - served} if database else {}
    )


def told(figures: dict[str, Any]) -> dict[str, Any]:
    """Print figures as they come, and return them."""
    print(json.dumps(figures), flush=True)
    return figures


@asynccontextmanager
async def client_of(url: str) -> AsyncIterator[httpx.AsyncClient]:
    """Open a client with room for all askers."""
    # The server closes what rests for five seconds; to ask on it at that moment is an error of the client's
    # making.
    limits = httpx.Limits(max_connections=200, max_keepalive_connections=200, keepalive_expiry=2)
    async with httpx.AsyncClient(base_url=url, timeout=300, limits=limits, trust_env=False) as client:
        yield client


async def measure(home: Path, latency: float, many: int, repeat: int) -> dict[str, Any]:
    """Return all figures."""
    from ragweave.tests.support import ScriptedServer

    figures: dict[str, Any] = {}
    with served(home) as (url, pid):
        async with client_of(url) as client:
            await load(client, 2, 6)
            figures["local"] = [
                told(await load(client, askers, max(40, repeat * askers))) for askers in LEVELS
            ]
            if many:
                before = megabytes(pid)
                row = await load(client, 20, many)
                figures["memory"] = {
                    "questions": many,
                    "errors": row["errors"],
                    "before": before,
                    "after": megabytes(pid),
                }
    with ScriptedServer(react=react, latency=latency) as model:
        with served(home, **asking(model.base_url)) as (url, _):
            async with client_of(url) as client:
                await load(client, 2, 4)
                figures["llm"] = [
                    told(await load(client, askers, max(20, repeat * askers))) for askers in LEVELS
                ]
    return figures


async def measure_several(
    folder: Path, latency: float, repeat: int, workers: bool, crowds: Sequence[int]
) -> dict[str, Any]:
    """Return the figures of one server and of two over two databases, or of one worker and of two over one home."""
    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.store.stores import close_stores
    from ragweave.tests.support import ScriptedServer
    from ragweave.tests.support.chroma import chroma_server
    from ragweave.tests.support.postgres import binaries, private_postgres

    figures: dict[str, Any] = {}
    with ExitStack() as beside:
        database = 0
        if not workers:
            if (found := binaries()) is None:
                raise SystemExit("no PostgreSQL is installed (Debian: apt install postgresql-15)")
            postgres = beside.enter_context(private_postgres(found))
            database = int((postgres.folder / "data" / "postmaster.pid").read_text().split()[0])
            os.environ["RAGWEAVE_DATABASE_URL"] = postgres.url("postgres")
            os.environ["RAGWEAVE_CHROMA_URL"] = beside.enter_context(chroma_server(folder / "chroma"))
            corpora_settings.cache_clear()
        model = beside.enter_context(ScriptedServer(react=react, latency=latency))
        await build(folder / "texts")
        close_stores()
        home = folder / "home"
        for count in (1, 2):
            async with AsyncExitStack() as stack:
                started: list[tuple[str, ...]] = [("--workers", str(count))] if workers else [()] * count
                servers = [
                    stack.enter_context(served(home, *how, **asking(model.base_url))) for how in started
                ]
                clients = [await stack.enter_async_context(client_of(url)) for url, _ in servers]
                ask = partial(by_turns, clients)
                await load(clients[0], 8, 24, ask)
                rows = figures[f"{'workers' if workers else 'replicas'}_{count}"] = []
                for askers in crowds:
                    before = programs([pid for _, pid in servers], database)
                    row = await load(clients[0], askers, max(20, repeat * askers), ask)
                    after = programs([pid for _, pid in servers], database)
                    row["cpu_ms"] = {
                        name: round((after[name] - before[name]) / row["questions"]) for name in after
                    }
                    rows.append(told(row | {"load": os.getloadavg()[0]}))
        figures["model_calls"] = len(model.requests)
    return figures


def main() -> None:
    """Print the figures, and write them where `--json` names a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds per model call")
    parser.add_argument("--many", type=int, default=2000, help="questions between two looks at the memory")
    parser.add_argument("--repeat", type=int, default=4, help="questions of each asker")
    several = parser.add_mutually_exclusive_group()
    several.add_argument(
        "--replicas", action="store_true", help="one server and two, over one PostgreSQL and one Chroma"
    )
    several.add_argument("--workers", action="store_true", help="one worker and two, over one home")
    parser.add_argument(
        "--askers", type=int, nargs="+", default=CROWDS, help="at once, of several servers or workers"
    )
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        os.environ["RAGWEAVE_HOME"] = str(home)
        if given.replicas or given.workers:
            many = measure_several(Path(folder), given.latency, given.repeat, given.workers, given.askers)
            figures = asyncio.run(many)
        else:
            asyncio.run(build(Path(folder) / "texts"))
            figures = asyncio.run(measure(home, given.latency, given.many, given.repeat))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
