r"""Measure the CPU time of a question with a model that answers at once, and where it goes.

    python benchmarks/speed.py [--questions 30] [--rounds 2] [--work FOLDER] [--served] [--json OUT]

Four programs stay open and take turns at each question, so that a busy minute of the machine affects all of
them: LLM mode over house_dev with pictures and recordings, LLM mode over its texts alone, extractive mode
over everything, and LangGraph's tutorial of corrective RAG over the texts (benchmarks/peers/tutorial.py,
needs langchain-chroma). Each has answered other questions before, and gets a question once in a round. The
model is scripted, in the process; with `--served` it runs in an OpenAI-compatible server on loopback.
Vectors come from the embedded encoder.

For each question, the program counts SQL statements, transactions, supersteps, node runs, hops to a thread
and scorings of a pool. `twenty at once` is the wall time of twenty questions with a model that takes 0.2 s.
`digest` is a hash of all prompts and answers of a round: it stays the same if a change has no effect on them.
`--work` keeps the libraries.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from statistics import fmean, median
from typing import Any

from counting import counting
from printed import emit, options

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("RAGWEAVE_DATA", HERE.parent.parent / "shared" / "data"))
ARMS = ("llm, all media", "llm, texts", "extractive, all media", "CRAG tutorial")
PICTURES, EPISODES = 6, 3
PACKED = (".pdf", ".docx", ".xlsx")
"""Three files of house_dev that the tutorial is not given: their readers are no part of a question."""
LATENCY, WIDTH = 0.2, 20
COUNTED = ("SQL statements", "transactions", "supersteps", "node runs", "thread hops", "pool scorings")

Ask = Callable[[str], Awaitable[str]]


def questions(count: int) -> tuple[list[str], list[str]]:
    """Return the questions to measure, and as many others to warm up with, by the digests of their ids."""
    alone: list[dict[str, Any]] = []
    for line in (DATA / "house_dev" / "questions.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if not row["previous"]:
            alone.append(row)
    alone.sort(key=lambda row: hashlib.sha256(row["id"].encode()).hexdigest())
    drawn = [row["question"] for row in alone[: 2 * count]]
    return drawn[:count], drawn[count:]


def prepare(work: Path) -> None:
    """Make the libraries and the tutorial's store once."""
    if (work / "done").exists():
        return
    shutil.rmtree(work, ignore_errors=True)
    media = work / "media"
    media.mkdir(parents=True)
    for picture in sorted((DATA / "images_astronomy" / "images").iterdir())[:PICTURES]:
        shutil.copy(picture, media)
    episodes: dict[str, list[dict[str, Any]]] = {}
    for line in (DATA / "transcripts_practicalai" / "segments.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        episodes.setdefault(str(row["episode"]), []).append(row)
    for name, rows in list(episodes.items())[:EPISODES]:
        (media / f"{name}.vtt").write_text("WEBVTT\n\n" + "".join(map(cue, count(), rows)), "utf-8")
    from ragweave.app.api import index

    texts = DATA / "house_dev" / "library"
    index([texts, media], "all")
    index([texts], "texts")
    crag(work).index(work / "chroma", texts)
    (work / "done").touch()


def cue(n: int, row: dict[str, Any]) -> str:
    """Return a turn of a conversation as a cue of WebVTT; each turn takes fifteen seconds."""
    return f"{_clock(15 * n)} --> {_clock(15 * n + 15)}\n{row['text']}\n\n"


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.000"


def crag(work: Path) -> Any:
    """Return the tutorial's module, with vectors of the embedded encoder."""
    os.environ.setdefault("PEER_URL", "http://127.0.0.1:9/v1")
    sys.path[:0] = [str(HERE / "peers"), str(HERE / "peers" / "adapters")]
    import of_langgraph_crag as adapter
    import tutorial
    from langchain_core.embeddings import Embeddings

    from ragweave.models.embed import encoder

    class Embedded(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [v.tolist() for v in encoder().texts(texts)]

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    tutorial.OpenAIEmbeddings = lambda **_: Embedded()
    tutorial.text_of = lambda path: "" if path.suffix in PACKED else path.read_text("utf-8", "replace")
    return adapter


def asker(arm: str, work: Path, served: str, model: Any) -> Ask:
    """Return what answers one question in an arm, with its counters running."""
    if arm == ARMS[3]:
        made = crag(work).Asker(work / "chroma")
        if not served:
            made.model = model

        async def tutored(question: str) -> str:
            return str((await made.ask(question, []))[0])

        return tutored
    from ragweave.components.context import Context
    from ragweave.graphs.agent import graph
    from ragweave.models.chat import override

    mode, library = ("extractive" if "extractive" in arm else "llm"), ("texts" if "texts" in arm else "all")

    async def answered(question: str) -> str:
        context = Context(mode=mode, library=library)
        state = await graph.ainvoke({"messages": [("human", question)]}, context=context)
        return str(state["answer"].text)

    async def injected(question: str) -> str:
        with override(writer=model):
            return await answered(question)

    return answered if served or mode == "extractive" else injected


async def program(arm: str, work: Path, served: str) -> None:
    """Be one of the programs: answer the questions of each line, and print what they took."""
    from desk import scripted

    from ragweave.tests.support import ScriptedChat

    def react(messages: Any) -> Any:
        return scripted("\n\n".join([str(message.text) for message in messages]))

    model = ScriptedChat(react=react)
    ask, digest, counts = asker(arm, work, served, model), hashlib.sha256(), Counter[str]()
    for line in sys.stdin:
        given = json.loads(line)
        if "at once" in given:
            model.delay = given["at once"]
            began = time.perf_counter()
            await asyncio.gather(*map(ask, given["ask"]))
            made: dict[str, Any] = {"seconds": time.perf_counter() - began}
            model.delay = 0.0
        elif "count" in given:
            counts.clear()
            with counting(counts):
                for question in given["ask"]:
                    await ask(question)
            made = {name: counts[name] / len(given["ask"]) for name in COUNTED}
        elif given["ask"]:
            before = len(model.calls)
            began = time.process_time()
            answer = await ask(given["ask"][0])
            made = {"ms": 1000 * (time.process_time() - began)}
            prompts = [call.prompt for call in model.calls[before:]]
            digest.update("\0".join([answer, *prompts]).encode())
        else:
            made = {"digest": digest.hexdigest()[:12]}
            digest = hashlib.sha256()
        print(json.dumps(made), flush=True)


def measure(given: argparse.Namespace, work: Path, url: str) -> dict[str, Any]:
    """Let the programs take turns, and return the figures."""
    asked, others = questions(given.questions)
    took: dict[str, list[float]] = {}
    wide: dict[str, list[float]] = {}
    for arm in ARMS:
        took[arm], wide[arm] = [], []
    counts: dict[str, dict[str, float]] = {}
    digests: dict[str, str] = {}
    for turn in range(given.rounds):
        opened = {arm: Program(arm, work, url) for arm in ARMS}
        for question in others:
            for each in opened.values():
                each(ask=[question])
        for each in opened.values():
            each(ask=[])
        for question in asked:
            for arm, each in opened.items():
                took[arm].append(each(ask=[question])["ms"])
        for arm, each in opened.items():
            digests[arm] = each(ask=[])["digest"]
            if not turn:
                counts[arm] = each(ask=asked, count=True)
            if not url:
                wide[arm].append(each(**{"ask": asked[:WIDTH], "at once": LATENCY})["seconds"])
            each.close()
    figures: dict[str, Any] = {}
    for arm in ARMS:
        values = sorted(took[arm])
        figures[f"{arm}: ms, median"] = median(values)
        figures[f"{arm}: ms, p95"] = values[int(0.95 * len(values))]
        figures[f"{arm}: of the tutorial"] = median(values) / median(took[ARMS[3]])
        if wide[arm]:
            figures[f"{arm}: twenty at once, s"] = fmean(wide[arm])
        figures[f"{arm}: counts"] = ", ".join([f"{name} {n:.1f}" for name, n in counts[arm].items()])
        figures[f"{arm}: digest"] = digests[arm]
    return figures


class Program:
    """One of the programs, in a process of its own."""

    def __init__(self, arm: str, work: Path, url: str) -> None:
        command = [sys.executable, __file__, "--arm", arm, "--work", str(work), "--url", url]
        env: dict[str, str] = {}
        for name, value in os.environ.items():
            if not name.startswith("RAGWEAVE_CHAT"):
                env[name] = value
        if url:
            env |= {"RAGWEAVE_CHAT": "openai:desk", "RAGWEAVE_CHAT_URL": url, "RAGWEAVE_CHAT_KEY": "peer"}
            env |= {"RAGWEAVE_CHAT_CACHE": "false", "PEER_URL": url}
        # Where a word lies in a table costs a process more or less: alike for all.
        env |= {"PYTHONHASHSEED": "0", "RAGWEAVE_HOME": f"{work}/home"}
        self._process = subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, **given: Any) -> dict[str, Any]:
        """Send a line, and return what it prints."""
        asks, tells = self._process.stdin, self._process.stdout
        assert asks is not None and tells is not None
        asks.write(json.dumps(given) + "\n")
        asks.flush()
        found: dict[str, Any] = json.loads(tells.readline())
        return found

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def cold(work: Path) -> dict[str, float]:
    """Return the processor seconds of commands in a fresh process, the median of five."""
    env = {**os.environ, "RAGWEAVE_HOME": f"{work}/home"}
    asked = questions(1)[0][0]
    found = {}
    for name, given in {
        "--help": ["--help"],
        "ask": ["ask", asked, "-l", "texts", "--mode", "extractive"],
    }.items():
        spent = []
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(
                [sys.executable, "-m", "ragweave", *given], env=env, capture_output=True, check=False
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        found[f"ragweave {name}, cold: processor s"] = median(spent)
    return found


def main() -> None:
    """Measure, and print the table."""
    parser = options(__doc__)
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "ragweave-speed")
    parser.add_argument("--served", action="store_true", help="ask the model over HTTP")
    parser.add_argument("--arm", choices=ARMS, help="be the program of this arm")
    parser.add_argument("--url", default="")
    given = parser.parse_args()
    sys.path.insert(0, str(HERE / "peers"))
    os.environ["RAGWEAVE_HOME"] = f"{given.work}/home"
    if given.arm:
        asyncio.run(program(given.arm, given.work, given.url))
        return
    prepare(given.work)
    if given.served:
        from desk import Desk

        with Desk(0.0) as desk:
            figures = measure(given, given.work, desk.base_url)
    else:
        figures = measure(given, given.work, "") | cold(given.work)
    emit(figures, given.json)


if __name__ == "__main__":
    main()
