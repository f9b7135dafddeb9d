"""Measure the server under load.

    python benchmarks/serve.py [--latency 0.2] [--many 2000] [--replicas | --workers] [--json OUT]

Starts `ragweave serve` in a process of its own over a library of 200 notes, and sends it questions over HTTP:
from 1, 10, 20 and 50 clients at once, each with the next question as soon as the last one is answered. The
clients run in this process and share the machine with the server. A scripted server of fixed latency replaces
the language model. With `--replicas` 1, 10, 50 and 200 clients use one and two servers over one PostgreSQL
and one Chroma server, with `--workers` one and two workers of a server over the files of its home. A client
that has to wait (429) sends its question again. `cpu_ms` is the CPU time of an answer in each program, if
/proc has it; `here` are the clients and the model.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
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

    texts: dict[str, str] = {}
    for n in range(NOTES):
        opened = f"The Observatory of Velmora {n} was opened in {year(n)} on Mount Helder."
        texts[f"{n}.md"] = f"# Velmora {n}\n\n{opened}\n"
    await build_library(folder, texts)


def react(received: Any) -> Any:
    """Answer in the one call that an easy question takes."""
    found = re.search(r"Observatory of (Velmora \d+) opened", str(received.messages[-1]["content"]))
    if found is None:
        return "Final Answer: UNKNOWN."
    return f"Final Answer: The Observatory of {found[1]} was opened in {year(int(found[1].split()[1]))} [1]."


def asking(url: str) -> dict[str, str]:
    """Return the variables of a server that uses the scripted model at that address."""
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
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        if found is None:
            raise SystemExit(f"the server did not start: {line}")
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
    """Ask one server and follow the answer on the next, as a balancer sends requests to servers by turns."""
    began, client = time.perf_counter(), clients[n % len(clients)]
    answer = await client.post("/api/ask", json={"question": question(n)})
    while answer.status_code == 429:
        await asyncio.sleep(float(answer.headers["retry-after"]))
        answer = await client.post("/api/ask", json={"question": question(n)})
    return await followed(clients[(n + 1) % len(clients)], answer, n, began)


async def followed(
    client: httpx.AsyncClient, asked: httpx.Response, n: int, began: float
) -> tuple[float, float]:
    """Read the events of a run to their end; returns seconds to the first checked sentence and to the end."""
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
    """Ask through the OpenAI-compatible endpoint."""
    began = time.perf_counter()
    body = {"model": "agent", "messages": [{"role": "user", "content": question(n)}]}
    answer = (await client.post("/v1/chat/completions", json=body)).raise_for_status().json()
    check(answer["choices"][0]["message"]["content"], n)
    return 0.0, time.perf_counter() - began


async def langserve_route(client: httpx.AsyncClient, n: int) -> tuple[float, float]:
    """Ask through LangServe."""
    began, body = time.perf_counter(), {"input": {"question": question(n)}}
    answer = (await client.post("/langserve/agent/invoke", json=body)).raise_for_status().json()
    check(answer["output"]["content"], n)
    return 0.0, time.perf_counter() - began


def check(text: str, n: int) -> None:
    """Raise a ValueError for a wrong answer: its speed would be worth nothing."""
    if year(n) not in text:
        raise ValueError(f"{question(n)} {text}")


async def load(client: httpx.AsyncClient, askers: int, total: int, ask: Ask = native) -> dict[str, Any]:
    """Send a number of questions from several clients at once, and return their times."""
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
    await asyncio.gather(*[one() for _ in range(askers)])
    seconds = time.perf_counter() - began
    row: dict[str, Any] = {"askers": askers, "questions": total, "errors": len(errors)}
    for p in (50, 90, 95, 99):
        row[f"p{p}"] = round(percentile(walls, p))
    row |= {"first_p50": round(percentile(firsts, 50)), "per_second": round(len(walls) / seconds, 1)}
    if errors:
        row["an_error"] = errors[0][:200]
    return row


def percentile(values: list[float], p: int) -> float:
    """Return the p-th percentile by nearest rank, 0 for no values."""
    if not values:
        return 0.0
    rank = math.ceil(p * len(values) / 100)
    return sorted(values)[max(1, rank) - 1]


def megabytes(pid: int) -> int:
    """Return the resident memory of a process in MiB; 0 if the system does not have it."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0
    found = re.search(r"VmRSS:\s+(\d+)", status.read_text())
    return int(found.group(1)) // 1024 if found else 0


def programs(servers: Sequence[int], database: int) -> dict[str, float]:
    """Return the CPU milliseconds by program; the Chroma server is any other child of this process."""
    here, served = time.process_time() * 1000, sum(map(spent, servers))
    found = {"servers": served, "here": here}
    if database:
        found["postgres"] = spent(database)
        found["chroma"] = spent(os.getpid()) - here - served
    return found


async def levels(client: httpx.AsyncClient, least: int, repeat: int) -> list[dict[str, Any]]:
    """Return the figures of each number of clients; print them as they come."""
    rows: list[dict[str, Any]] = []
    for askers in LEVELS:
        row = await load(client, askers, max(least, repeat * askers))
        print(json.dumps(row), flush=True)
        rows.append(row)
    return rows


@asynccontextmanager
async def client_of(url: str) -> AsyncIterator[httpx.AsyncClient]:
    """Open a client with a connection for each asker."""
    # The server closes an idle connection after five seconds. A request at that moment would fail, so the
    # client closes it earlier.
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
            figures["local"] = await levels(client, 40, repeat)
            if many:
                before = megabytes(pid)
                row = await load(client, 20, many)
                memory = {"before": before, "after": megabytes(pid)}
                figures["memory"] = {"questions": many, "errors": row["errors"], **memory}
    with ScriptedServer(react=react, latency=latency) as model:
        with served(home, **asking(model.base_url)) as (url, _):
            async with client_of(url) as client:
                await load(client, 2, 4)
                figures["llm"] = await levels(client, 20, repeat)
    return figures


async def measure_several(
    folder: Path, latency: float, repeat: int, workers: bool, crowds: Sequence[int]
) -> dict[str, Any]:
    """Return the figures of one and two servers over two databases, or of one and two workers."""
    from ragweave.corpora.store.stores import close_stores
    from ragweave.tests.support import ScriptedServer

    figures: dict[str, Any] = {}
    with ExitStack() as stack:
        database = 0 if workers else _databases(folder, stack)
        model = stack.enter_context(ScriptedServer(react=react, latency=latency))
        await build(folder / "texts")
        close_stores()
        environment = asking(model.base_url)
        for count in (1, 2):
            with ExitStack() as running:
                servers: list[tuple[str, int]] = []
                if workers:
                    several = served(folder / "home", "--workers", str(count), **environment)
                    servers.append(running.enter_context(several))
                else:
                    for _ in range(count):
                        servers.append(running.enter_context(served(folder / "home", **environment)))
                name = f"{'workers' if workers else 'replicas'}_{count}"
                figures[name] = await _crowded(servers, database, repeat, crowds)
        figures["model_calls"] = len(model.requests)
    return figures


def _databases(folder: Path, stack: ExitStack) -> int:
    """Start PostgreSQL and Chroma, and have the settings name them; returns the process id of PostgreSQL."""
    from ragweave.corpora.settings import corpora_settings
    from ragweave.tests.support.chroma import chroma_server
    from ragweave.tests.support.postgres import binaries, private_postgres

    found = binaries()
    if found is None:
        raise SystemExit("no PostgreSQL is installed (Debian: apt install postgresql-15)")
    postgres = stack.enter_context(private_postgres(found))
    os.environ["RAGWEAVE_DATABASE_URL"] = postgres.url("postgres")
    os.environ["RAGWEAVE_CHROMA_URL"] = stack.enter_context(chroma_server(folder / "chroma"))
    corpora_settings.cache_clear()
    return int((postgres.folder / "data" / "postmaster.pid").read_text().split()[0])


async def _crowded(
    servers: Sequence[tuple[str, int]], database: int, repeat: int, crowds: Sequence[int]
) -> list[dict[str, Any]]:
    """Return the figures of each number of clients at these servers, given by address and process id."""
    pids = [pid for _, pid in servers]
    rows: list[dict[str, Any]] = []
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(client_of(url)) for url, _ in servers]
        ask = partial(by_turns, clients)
        await load(clients[0], 8, 24, ask)
        for askers in crowds:
            before = programs(pids, database)
            row = await load(clients[0], askers, max(20, repeat * askers), ask)
            row["cpu_ms"] = {}
            for name, after in programs(pids, database).items():
                row["cpu_ms"][name] = round((after - before[name]) / row["questions"])
            row["load"] = os.getloadavg()[0]
            print(json.dumps(row), flush=True)
            rows.append(row)
    return rows


def main() -> None:
    """Print the figures, and write them to the file that `--json` names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
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
