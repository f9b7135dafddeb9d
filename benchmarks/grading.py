"""What grading ten passages by a language model costs: `python benchmarks/grading.py [--latency 1] [--json OUT]`.

A scripted server of fixed latency stands in for the model, on loopback and through the real client, so that what is
measured is everything else. Beside Ragweave's one call for all passages stands what most programs do: a call each.
"""

from __future__ import annotations

import asyncio
import os
import re
import statistics
from pathlib import Path
from typing import Any

from printed import options, own_home, tell

QUESTION = "When was the Corvane Observatory opened?"
K = 10
"""Passages to grade."""


def react(received: Any) -> Any:
    """Grade every passage of a prompt."""
    count = len(re.findall(r"^\[(\d+)\]", received.prompt, re.M))
    return {"verdicts": [{"n": n, "verdict": "relevant" if n == 1 else "irrelevant"} for n in range(1, count + 1)]}


async def build(folder: Path) -> None:
    """Index one file that answers and forty on the same subject that do not."""
    from ragweave.tests.support.library import build_library

    texts = {"corvane.md": "# Corvane Observatory\n\nThe Corvane Observatory was opened in 1931 on Mount Helder.\n"}
    for n in range(40):
        texts[f"{n}.md"] = f"# Observatory {n}\n\nThe observatory of Town {n} has {n + 3} rooms and a red roof.\n"
    await build_library(folder, texts)


async def graded(k: int) -> tuple[float, int, int]:
    """Run retrieval and grading once; return the grading node's seconds, its calls, and the passages it graded."""
    from ragweave.components.context import Context
    from ragweave.graphs.crag import graph

    context = Context(grade_by="llm", mode="extractive", top_k=k)
    state = await graph.ainvoke({"messages": [("human", QUESTION)]}, context=context)
    if state["grade"]["by"] != "llm":
        raise SystemExit(f"the model did not grade: {state['answer'].notes}")
    rows = [u for u in state["usage"] if u.node == "grade"]
    return max(u.seconds for u in rows if not u.role), sum(u.calls for u in rows), len(state["candidates"])


async def measure(folder: Path, latency: float, repeats: int) -> dict[str, float]:
    """Measure one call for all passages, and a call per passage in a row and at once."""
    from ragweave.tests.support import ScriptedServer

    with ScriptedServer(react=react, latency=latency) as server:
        os.environ |= {"RAGWEAVE_CHAT": "scripted", "RAGWEAVE_CHAT_URL": server.base_url, "RAGWEAVE_CHAT_KEY": "k"}
        os.environ["RAGWEAVE_CHAT_CACHE"] = "false"
        await build(folder)
        await graded(K)
        runs = [await graded(K) for _ in range(repeats)]
        asked = len(server.requests)
        in_a_row = sum([(await graded(1))[0] for _ in range(K)])
    seconds = statistics.median(seconds for seconds, _, _ in runs)
    return {
        "passages": runs[0][2],
        "calls": runs[0][1],
        "requests_per_question": (asked - 1) / repeats,
        "wall_over_critical_path": round(seconds / latency, 3),
        "ms_besides_the_model": round(1000 * (seconds - latency), 1),
        "call_each_over_one_call": round(in_a_row / seconds, 2),
    }


def main() -> None:
    """Print the figures, and write them where `--json` names a file."""
    parser = options(__doc__, latency=1.0)
    parser.add_argument("--repeats", type=int, default=10)
    given = parser.parse_args()
    with own_home() as folder:
        figures = asyncio.run(measure(folder / "texts", given.latency, given.repeats))
    tell(figures, given.json)


if __name__ == "__main__":
    main()
