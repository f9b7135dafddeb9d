"""Measure how the cost of a question grows with the library and with the questions at the same time.

    python benchmarks/askers.py [--sizes 1000 10000 100000] [--askers 1 4 16 64] [--json OUT] [--plot PICTURE]

The program runs LLM mode over libraries of synthetic passages of about 120 words, as benchmarks/scale.py
writes them, with a scripted model that takes 0.2 s a call. Each asker sends one question at the same moment
as the others. The figures are the CPU milliseconds of a question, and the seconds until the last asker has
an answer. A first round warms up.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `ragweave` does

HERE = Path(__file__).resolve().parent
LATENCY = 0.2


async def measure(count: int, askers: list[int]) -> dict[str, Any]:
    """Index so many passages and ask; return the figures by the number of askers."""
    from desk import scripted

    from ragweave.components.context import Context
    from ragweave.corpora.store.library import open_library
    from ragweave.graphs.agent import graph
    from ragweave.models.chat import override
    from ragweave.tests.support import ScriptedChat

    asked = await indexed(count)
    context = Context(mode="llm")

    def react(messages: Any) -> Any:
        return scripted("\n\n".join([str(message.text) for message in messages]))

    async def ask(question: str) -> None:
        await graph.ainvoke({"messages": [("human", question)]}, context=context)

    model = ScriptedChat(react=react)
    found: dict[str, Any] = {"passages": (await (await open_library()).counts())["paragraph"]}
    with override(writer=model):
        for question in asked[:30]:
            await ask(question)
        model.delay, at = LATENCY, 30
        for n in askers:
            began, spent = time.perf_counter(), time.process_time()
            await asyncio.gather(*map(ask, asked[at : at + n]))
            found[f"{n}: processor, ms a question"] = 1000 * (time.process_time() - spent) / n
            found[f"{n}: seconds until the last answer"] = time.perf_counter() - began
            at += n
    return found


async def indexed(count: int) -> list[str]:
    """Write and index so many passages; return questions about them."""
    from ragweave.corpora.ingest.run import index

    scale = runpy.run_path(str(HERE / "scale.py"))
    shared = runpy.run_path(str(HERE / "index.py"))
    data, pool = shared["DATA"], shared["sentences"](shared["SETS"][1:])
    gold = scale["gold_passages"](data)
    files = Path(os.environ["RAGWEAVE_HOME"]).parent / "files"
    files.mkdir()
    scale["write_files"](files, count, gold, pool)
    await index([files])
    return [question for question, _ in scale["questions"](data, gold, pool)]


def plot(rows: list[dict[str, Any]], askers: list[int], path: Path) -> None:
    """Draw both figures over the number of askers, a line for each size."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, both = plt.subplots(1, 2, figsize=(11, 4.2), constrained_layout=True)
    for axis, what in zip(both, ("processor, ms a question", "seconds until the last answer"), strict=True):
        for row in rows:
            values = [row[f"{n}: {what}"] for n in askers]
            axis.plot(askers, values, marker="o", label=f"{row['passages']:,} passages")
        axis.set(xscale="log", xlabel="askers at once", title=what, ylim=(0, None))
        axis.set_xticks(askers, map(str, askers))
        axis.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def in_process(count: int, askers: list[int]) -> dict[str, Any]:
    """Measure one size in a process and a home of its own."""
    scratch = Path(tempfile.mkdtemp(prefix="ragweave-askers-"))
    try:
        out, env = scratch / "figures.json", {**os.environ, "RAGWEAVE_HOME": str(scratch / "home")}
        command = [
            sys.executable,
            __file__,
            "--one",
            str(count),
            "--json",
            str(out),
            "--askers",
            *map(str, askers),
        ]
        subprocess.run(command, env=env, check=True)
        found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return found
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def main() -> None:
    """Run every size, print the table, and write JSON and plot where they are asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--askers", type=int, nargs="+", default=[1, 4, 16, 64])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    sys.path.insert(0, str(HERE / "peers"))
    if given.one:
        given.json.write_text(json.dumps(asyncio.run(measure(given.one, given.askers))), encoding="utf-8")
        return
    rows = [in_process(count, given.askers) for count in given.sizes]
    for name in rows[0]:
        print(f"{name:36}", *(f"{row[name]:>12,.2f}" for row in rows))
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    if given.plot:
        plot(rows, given.askers, given.plot)


if __name__ == "__main__":
    main()
