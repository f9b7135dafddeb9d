"""Query speed as ratios within one run: `python benchmarks/query.py [--latency 0.2] [--json OUT]`.

A scripted model of fixed latency stands in for a language model, so that what is measured is everything else.
"""

from __future__ import annotations

import asyncio
import os
import re
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from printed import options, own_home, tell

QUESTION = "When was the Corvane Observatory opened?"
TOPICS = ("observatory", "harbour", "mill", "school", "railway", "bridge", "theatre", "museum", "library", "garden")


def react(messages: list[Any]) -> Any:
    """Answer in the one call that an easy question takes: one hop, one supported sentence."""
    assert "from numbered documents" in messages[0].text, "an easy question takes one call"
    return "Final Answer: It was opened in 1931 [1]."


async def build(folder: Path) -> None:
    """Index one file that answers and forty that do not."""
    from ragweave.tests.support.library import build_library

    texts = {"corvane.md": "# Corvane Observatory\n\nThe Corvane Observatory was opened in 1931 on Mount Helder.\n"}
    for n in range(40):
        topic = TOPICS[n % len(TOPICS)]
        texts[f"{n}.md"] = f"# The {topic} of Town {n}\n\nThe {topic} of Town {n} has {n + 3} rooms and a red roof.\n"
    await build_library(folder, texts)


async def timed(context: Any, model: Any) -> float:
    """Return the seconds of one answered question."""
    from ragweave.graphs.agent import graph
    from ragweave.models.chat import override

    sent: Any = {"messages": [("human", QUESTION)]}
    started = time.perf_counter()
    with override(writer=model):
        state = await graph.ainvoke(sent, context=context)
    seconds = time.perf_counter() - started
    if "1931" not in state["answer"].text:
        raise SystemExit(f"the benchmark's question was not answered: {state['answer'].text}")
    return seconds


async def with_model(latency: float) -> dict[str, float]:
    """Measure LLM mode: one asker, then twenty at once."""
    from ragweave.components.context import Context
    from ragweave.tests.support import ScriptedChat

    context = Context(mode="llm")
    model = ScriptedChat(react=react, delay=latency)
    await timed(context, model)
    before = len(model.calls)
    alone = [await timed(context, model) for _ in range(5)]
    calls = (len(model.calls) - before) / 5
    os.environ["RAGWEAVE_CHAT_WIDTH"] = "64"
    started = time.perf_counter()
    await asyncio.gather(*(timed(context, model) for _ in range(20)))
    together = time.perf_counter() - started
    best = statistics.median(alone)
    return {
        "calls_per_question": calls,
        "wall_over_critical_path": round(best / (calls * latency), 3),
        "twenty_at_once_over_one": round(together / best, 3),
    }


async def without_model() -> dict[str, float]:
    """Measure extractive mode, and what the graph itself adds to its nodes."""
    from ragweave.components.context import Context
    from ragweave.graphs.agent import graph

    sent: Any = {"messages": [("human", QUESTION)]}
    context = Context(mode="extractive")
    await graph.ainvoke(sent, context=context)
    walls, overheads = [], []
    for _ in range(20):
        started = time.perf_counter()
        state = await graph.ainvoke(sent, context=context)
        wall = time.perf_counter() - started
        spent: dict[str, float] = {}
        for row in state["answer"].usage:
            spent[row.node] = max(spent.get(row.node, 0.0), row.seconds)
        beside = min(spent["route"], spent["expand"])
        walls.append(wall * 1000)
        overheads.append((wall - sum(spent.values()) + beside) * 1000)
    return {
        "ms_per_question": round(statistics.median(walls), 1),
        "ms_graph_overhead": round(statistics.median(overheads), 1),
    }


def fresh_process(home: str) -> dict[str, Any]:
    """Time the first answer of a fresh process and name its largest imports."""
    env = {**os.environ, "RAGWEAVE_HOME": home}
    cli = [sys.executable, "-m", "ragweave.app.cli"]
    started = time.perf_counter()
    subprocess.run([*cli, "--help"], env=env, check=True, capture_output=True)
    helped = time.perf_counter() - started
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*cli, "ask", QUESTION, "--json"], env=env, check=True, capture_output=True)
    asked, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    code = f"from ragweave import ask; ask({QUESTION!r})"
    told = subprocess.run([sys.executable, "-X", "importtime", "-c", code], env=env, capture_output=True, text=True)
    rows = re.findall(r"import time:\s+\d+ \|\s+(\d+) \| (\s*)([\w.]+)", told.stderr)
    top = {name: int(us) // 1000 for us, indent, name in rows if "." not in name and int(us) > 40_000}
    largest = dict(sorted(top.items(), key=lambda r: -r[1])[:6])
    return {
        "help_seconds": round(helped, 2),
        "first_answer_seconds": round(asked, 2),
        "first_answer_cpu_seconds": round(used, 2),
        "largest_imports_ms": largest,
    }


def main() -> None:
    """Print the figures, and write them where `--json` names a file."""
    parser = options(__doc__, latency=0.2)
    given = parser.parse_args()
    with own_home() as folder:
        asyncio.run(build(folder / "texts"))
        figures: dict[str, Any] = asyncio.run(without_model())
        figures |= asyncio.run(with_model(given.latency))
        figures |= fresh_process(f"{folder}/home")
    tell(figures, given.json)


if __name__ == "__main__":
    main()
