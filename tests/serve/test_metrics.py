"""`/metrics`: what a server counts, who may read it, and that several workers are added up."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import httpx
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.parser import text_string_to_metric_families

from ragweave.serve.counters import FILES
from ragweave.serve.metrics import of_several, registry
from ragweave.tests.serve.conftest import QUESTION
from ragweave.tests.support.serving import ask_over_http, bearer, killed_at_the_end, parse_events

Labels = frozenset[tuple[str, str]]


def samples(text: str) -> dict[tuple[str, Labels], float]:
    families = text_string_to_metric_families(text)
    return {(s.name, frozenset(s.labels.items())): s.value for family in families for s in family.samples}


async def read(client: httpx.AsyncClient) -> dict[tuple[str, Labels], float]:
    answer = await client.get("/metrics")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/plain")
    return samples(answer.text)


def of(found: dict[tuple[str, Labels], float], name: str, **labels: str) -> float:
    return found.get((name, frozenset(labels.items())), 0)


async def test_a_question_an_upload_and_an_error_are_counted(client: httpx.AsyncClient) -> None:
    before, files = await read(client), FILES.labels("indexed")._value.get()
    await ask_over_http(client, QUESTION)
    assert (await client.post("/api/ask", json={"question": ""})).status_code >= 400
    sent = [("files", ("kiln.md", b"# The kiln\n\nThe kiln was lit in 1911.\n"))]
    job = (await client.post("/api/upload", data={"library": "default"}, files=sent)).json()["job"]
    assert parse_events((await client.get(f"/api/jobs/{job}/events")).text)[-1]["type"] == "end"
    after = await read(client)

    def more(name: str, **labels: str) -> float:
        return of(after, name, **labels) - of(before, name, **labels)

    assert more("ragweave_questions_total", outcome="answered") == 1
    assert more("ragweave_question_seconds_count") == 1
    assert more("ragweave_errors_total", code="input") == 1
    assert more("ragweave_items", library="default", corpus="paragraph") == 1
    assert FILES.labels("indexed")._value.get() == files + 1
    assert more("ragweave_answers_running") == more("ragweave_indexing_jobs") == 0


async def test_a_key_for_all_libraries_reads_metrics_and_one_of_a_library_does_not(
    client: httpx.AsyncClient,
) -> None:
    make = [sys.executable, "-m", "ragweave.app.cli", "keys", "create"]

    def created(*words: str) -> dict[str, str]:
        done = subprocess.run([*make, *words], capture_output=True, text=True, check=True)
        return bearer(done.stdout.strip())

    every, one = created("watch", "--all", "--role", "read"), created("guest", "--library", "tea room")
    assert (await client.get("/metrics")).status_code == 401
    assert (await client.get("/metrics", headers=every)).status_code == 200
    refused = await client.get("/metrics", headers=one)
    assert refused.status_code == 403 and "all libraries" in refused.json()["remedy"]


async def test_workers_are_added_up(notes: Path) -> None:
    async with killed_at_the_end("--workers", "2", "--log", "none") as (client, _):
        await asyncio.gather(*(ask_over_http(client, QUESTION) for _ in range(6)))
        for _ in range(8):  # whichever worker is asked
            found = await read(client)
            assert of(found, "ragweave_questions_total", outcome="answered") == 6
            assert of(found, "ragweave_answers_running") == 0


def test_the_gauges_of_a_worker_that_was_killed_are_forgotten() -> None:
    with of_several():
        folder = Path(os.environ["PROMETHEUS_MULTIPROC_DIR"])
        ended = subprocess.run(
            [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True
        )
        left, mine = (folder / f"gauge_livesum_{pid}.db" for pid in (int(ended.stdout), os.getpid()))
        left.write_bytes(b"")
        mine.write_bytes(MmapedDict(str(folder / "made.db")).close() or (folder / "made.db").read_bytes())
        registry()
        assert not left.exists() and mine.exists()
