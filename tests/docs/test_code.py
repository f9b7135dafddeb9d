"""The Python that the pages show runs as it stands, over a server of this machine where one is asked."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import END, START

from ragweave.graphs.base import new_graph
from ragweave.models.relevance_reading import Passage
from ragweave.models.settings import ModelSettings
from ragweave.serve.app import create_app
from ragweave.serve.settings import ServeSettings
from ragweave.tests.docs.pages import PAGES, ROOT, blocks
from ragweave.tests.support.library import build_library
from ragweave.tests.support.serving import BASE, on_loopback

ELSEWHERE = ("torch",)
"""Packages whose code needs weights that are not here."""


def programs(page: Path) -> list[str]:
    return [code for code in blocks(page, "python") if not any(name in code for name in ELSEWHERE)]


WITH_CODE = []
for _page in PAGES:
    _codes = programs(_page)
    if _codes:
        # The index takes a process each time it is written: only for code that opens it.
        _marks = [pytest.mark.chroma] if "chroma" in "".join(_codes) else []
        WITH_CODE.append(pytest.param(_page, id=_page.name, marks=_marks))


@pytest.mark.parametrize("page", WITH_CODE)
async def test_the_python_of_a_page_runs_from_top_to_bottom(
    page: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "# The pump\n\nThe pump was built by Ada Kern in 1931. The lighthouse was first lit in 1874.\n"
    for library in ("default", "house", "notes"):
        await build_library(tmp_path / "notes", {"pump.md": text}, library)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    async with on_loopback(create_app(ServeSettings())) as address:
        code = "\n".join(programs(page)).replace(BASE, address)
        names: dict[str, Any] = {"__name__": page.stem}
        await asyncio.to_thread(exec, compile(code, page.name, "exec"), names)
        for value in list(names.values()):
            if inspect.iscoroutinefunction(value) and not inspect.signature(value).parameters:
                await value()


def contributed(name: str) -> Callable[..., Any]:
    """Run the block of CONTRIBUTING that defines a function, and return the function."""
    (block,) = [b for b in blocks(ROOT / "CONTRIBUTING.md", "python") if f"def {name}(" in b]
    names: dict[str, Any] = {"__name__": "contributed"}
    exec(compile(block, "CONTRIBUTING.md", "exec", dont_inherit=True), names)
    function: Callable[..., Any] = names[name]
    return function


async def test_the_node_of_the_guide_runs_in_a_graph(home: Path) -> None:
    builder = new_graph(contributed("tally"))
    builder.path(START, "tally", END)
    events = [e async for e in builder.compile().astream({"question": "Why?"}, stream_mode="custom")]
    assert [(e["node"], e["summary"]) for e in events] == [("tally", "0 passages kept")]


def test_the_format_of_the_guide_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.org").write_text("* Pumps\nBuilt in 1931.\n", encoding="utf-8")
    heading, text = contributed("parse")(tmp_path / "a.org").blocks
    assert (heading.kind, heading.level, text.text, text.line) == ("heading", 1, "Built in 1931.", 2)


def test_the_reranker_of_the_guide_orders_passages() -> None:
    reranker = contributed("_overlap")("words", ModelSettings())
    low, high = reranker.scores("old pump", [Passage("", "a new lamp"), Passage("", "the old pump")])
    assert reranker.name == "overlap:words" and low < high


async def test_the_strategy_of_the_guide_routes() -> None:
    routed = await contributed("by_words")(None, "a photo of the pump", {"image", "paragraph"})
    assert routed.labels == ["image"]
