from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from ragweave.corpora.web.search import search
from ragweave.corpora.web.types import WebPage
from ragweave.models.errors import InputError, WebError


@dataclass
class Engine:
    """Gives the same results to every query and keeps what it was asked."""

    found: list[WebPage]
    name: str = "engine"
    wait: float = 0.0
    asked: list[tuple[str, int]] = field(default_factory=list)

    async def search(self, query: str, k: int) -> list[WebPage]:
        self.asked.append((query, k))
        await asyncio.sleep(self.wait)
        return self.found


def page(url: str, title: str = "T", text: str = "Built in 1827.", snippet: str = "s") -> WebPage:
    return WebPage(url, title, text, snippet, "2024-01-01T00:00:00+00:00")


async def test_no_more_than_k_pages_and_no_double_are_returned_in_the_order_of_the_results() -> None:
    engine = Engine([page(f"https://a.example/{i // 2}#{i}", f"Page {i // 2}") for i in range(12)])
    result = await search(engine, "lighthouse " * 500, 3)
    assert [(p.url, p.title) for p in result.pages] == [
        (f"https://a.example/{n}", f"Page {n}") for n in range(3)
    ]
    assert (result.provider, result.notes) == ("engine", [])
    ((sent, n),) = engine.asked
    assert len(sent) <= 400 and n == 6


async def test_what_a_provider_brings_is_made_plain_and_a_snippet_stands_in_for_text() -> None:
    text = "A cape\u202e on [Rügen](https://evil.example). ![p](https://evil.example/p.png)"
    rows = [
        page("https://a.example/", "T [x](http://evil.example)", text),
        page("https://b.example/", text=""),
    ]
    found = (await search(Engine([*rows, page("https://c.example/", text="", snippet="")]), "x", 5)).pages
    assert [(p.title, p.text) for p in found] == [("T x", "A cape on Rügen. p"), ("T", "s")]


async def test_a_result_without_an_address_of_the_web_is_left_out_and_the_folder_alone_gives_files() -> None:
    odd = [
        "javascript:alert(1)",
        "ftp://a.example/",
        "nonsense",
        "http://a.example/\nx",
        "https://",
        "data:text/html,x",
    ]
    found = [*map(page, odd), page("file:///etc/passwd", "File"), page("https://a.example/", "Good")]
    for provider, titles in (("searx", ["Good"]), ("folder", ["File", "Good"])):
        assert [p.title for p in (await search(Engine(found, provider), "x", 10)).pages] == titles


async def test_nothing_found_is_a_note_and_a_provider_that_hangs_an_error() -> None:
    result = await search(Engine([]), "lighthouse", 5)
    assert (result.pages, result.notes) == ([], ["The web search (engine) found nothing for “lighthouse”."])
    with pytest.raises(WebError, match=r"did not answer within 0\.1 s"):
        await search(Engine([], wait=30), "x", 1, timeout=0.1)


@pytest.mark.parametrize(("query", "k"), [("", 5), (" \u200b\n", 5), ("x", 0), ("x", 21)])
async def test_a_query_or_count_that_makes_no_sense_is_refused(query: str, k: int) -> None:
    engine = Engine([])
    with pytest.raises(InputError):
        await search(engine, query, k)
    assert engine.asked == []
