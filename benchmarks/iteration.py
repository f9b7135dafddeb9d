"""What iteration costs beside the model: `python benchmarks/iteration.py [--latency 0.5] [--json OUT]`.

A scripted model of fixed latency asks a chain of questions over a small library. The critical path is the calls that
have to wait for each other, times the latency; the figures are ratios to it. `quiet` is what the wall would be where
nothing else runs and no two things at once: the critical path and the processor time of the run.
"""

from __future__ import annotations

import asyncio
import re
import statistics
import time
from pathlib import Path
from typing import Any

from printed import options, own_home, tell

HOPS = (1, 2, 3, 4)
SERIAL_PER_HOP = {"agent": 3, "auto_rag": 1}
"""Calls in a row that each hop adds: route beside expand, grade and reason in the agent; the next turn in auto_rag."""
SERIAL_ONCE = {"agent": 1, "auto_rag": 2}
"""Calls in a row besides: the answer, and in auto_rag the first turn."""
QUESTION = "Who founded the works that stand at the end of the chain of Town 0?"


def react(hops: int) -> Any:
    """Return a player of every node's part that asks one query per hop."""

    def play(messages: list[Any]) -> Any:
        system, user = messages[0].text, messages[-1].text
        if "write search queries" in system:
            return {"queries": ["chain of towns", "works and founders"]}
        if "judge whether passages" in system:
            count = len(re.findall(r"^\[(\d+)\]", user, re.M))
            return {"verdicts": [{"n": n, "verdict": "relevant"} for n in range(1, count + 1)]}
        if "find out, step by step" in system:
            asked = sum(m.type == "ai" for m in messages)
            return f"Query: works of Town {asked}" if asked < hops else "Final Answer: Ada Works"
        return "paragraph" if "decide where the answer" in system else "The works of Town 1 were founded in 1801 [1]."

    return play


async def build(folder: Path) -> None:
    """Index forty short files."""
    from ragweave.tests.support.library import build_library

    text = "# Works of Town {n}\n\nThe works of Town {n} were founded in {year}. They bought those of Town {next}.\n"
    texts = {f"{n}.md": text.format(n=n, year=1800 + n, next=n + 1) for n in range(40)}
    await build_library(folder, texts)


async def wall(graph: Any, hops: int, latency: float) -> tuple[float, float, int]:
    """Return the seconds of one run, its processor seconds, and its rounds."""
    from ragweave.components.context import Context
    from ragweave.models.chat import override
    from ragweave.tests.support import ScriptedChat

    context = Context(mode="llm", expand_when="always", max_hops=hops, max_model_calls=100)
    started, worked = time.perf_counter(), time.process_time()
    with override(writer=ScriptedChat(react=react(hops), delay=latency)):
        state = await graph.ainvoke({"messages": [("human", QUESTION)]}, context=context)
    return time.perf_counter() - started, time.process_time() - worked, len(state["hops"])


async def measure(latency: float, runs: int) -> dict[str, dict[str, float]]:
    """Return the wall over the critical path by graph and hops; the last hop of the agent decides without a model."""
    from importlib import import_module

    out: dict[str, dict[str, float]] = {}
    for name in SERIAL_PER_HOP:
        graph = import_module(f"ragweave.graphs.{name}").graph
        await wall(graph, 2, 0.0)
        row: dict[str, float] = {}
        for hops in HOPS:
            taken = [await wall(graph, hops, latency) for _ in range(runs)]
            if {n for *_, n in taken} != {hops}:
                raise SystemExit(f"{name} was to take {hops} hops and took {[n for *_, n in taken]}")
            path = (SERIAL_ONCE[name] + SERIAL_PER_HOP[name] * hops - 1) * latency
            row[f"{hops} hops"] = round(statistics.median(s for s, *_ in taken) / path, 3)
            row[f"{hops} quiet"] = round(1 + statistics.median(c for _, c, _ in taken) / path, 3)
        out[name] = row
    return out


def main() -> None:
    """Print the figures, and write them where `--json` names a file."""
    parser = options(__doc__, latency=0.5)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    with own_home() as folder:
        asyncio.run(build(folder / "texts"))
        figures = asyncio.run(measure(given.latency, given.runs))
    tell(figures, given.json)


if __name__ == "__main__":
    main()
