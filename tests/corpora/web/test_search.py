from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ragweave.corpora.web.providers import make
from ragweave.corpora.web.search import search
from ragweave.corpora.web.types import WebPage
from ragweave.models.errors import InputError, WebError

TEXT = "The lighthouse of Kap Arkona was built in 1827 after plans that are ascribed to Karl Friedrich Schinkel."
AT = "2024-01-01T00:00:00+00:00"


@dataclass
class Engine:
    """Gives the same results to every query and keeps what it was asked."""

    found: list[WebPage]
    name: str = "engine"
    asked: list[tuple[str, int]] = field(default_factory=list)

    async def search(self, query: str, k: int) -> list[WebPage]:
        self.asked.append((query, k))
        return self.found


def page(url: str, title: str = "T", text: str = TEXT, snippet: str = "s") -> WebPage:
    return WebPage(url, title, text, snippet, AT)


async def test_no_more_than_k_pages_and_no_double_are_returned_in_the_order_of_the_results() -> None:
    engine = Engine([page(f"https://a.example/{i // 2}#{i}", f"Page {i // 2}") for i in range(12)])
    result = await search(engine, "lighthouse", 3)
    assert [(p.url, p.title) for p in result.pages] == [(f"https://a.example/{n}", f"Page {n}") for n in range(3)]
    assert (result.provider, result.notes) == ("engine", [])


async def test_a_page_without_text_has_its_snippet_and_one_without_either_is_left_out() -> None:
    whole = page("https://a.example/", text="", snippet="The snippet.")
    empty = page("https://b.example/", text="", snippet="")
    (found,) = (await search(Engine([whole, empty]), "lighthouse", 3)).pages
    assert (found.text, found.fetched) == ("The snippet.", AT)


async def test_what_a_provider_brings_is_made_plain() -> None:
    text = "A cape\u202e on [Rügen](https://evil.example). ![p](https://evil.example/p.png)"
    (found,) = (await search(Engine([page("https://a.example/", "T [x](http://evil.example)", text)]), "x", 1)).pages
    assert (found.title, found.text) == ("T x", "A cape on Rügen. p")


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "ftp://a.example/", "nonsense", "http://a.example/\nx", "https://", "data:text/html,x"],
)
async def test_a_result_without_an_address_of_the_web_is_left_out(url: str) -> None:
    result = await search(Engine([page(url), page("https://a.example/", "Good")]), "x", 5)
    assert [p.title for p in result.pages] == ["Good"]


@pytest.mark.parametrize("provider", ["searx", "tavily", "engine"])
async def test_only_the_folder_gives_addresses_of_files(provider: str) -> None:
    found = [page("file:///etc/passwd", "File"), page("https://a.example/", "Good")]
    assert [p.title for p in (await search(Engine(found, provider), "x", 5)).pages] == ["Good"]
    assert [p.title for p in (await search(Engine(found, "folder"), "x", 5)).pages] == ["File", "Good"]


async def test_nothing_found_is_a_note() -> None:
    result = await search(Engine([]), "lighthouse", 5)
    assert (result.pages, result.notes) == ([], ["The web search (engine) found nothing for “lighthouse”."])


async def test_a_provider_that_fails_or_hangs_is_an_error() -> None:
    class Down(Engine):
        async def search(self, query: str, k: int) -> list[WebPage]:
            raise WebError("The web search engine is down (500)", "try again later")

    class Hanging(Engine):
        async def search(self, query: str, k: int) -> list[WebPage]:
            await asyncio.sleep(30)
            return []

    with pytest.raises(WebError, match="is down"):
        await search(Down([]), "x", 1)
    with pytest.raises(WebError, match=r"did not answer within 0\.1 s"):
        await search(Hanging([]), "x", 1, timeout=0.1)


@pytest.mark.parametrize(("query", "k"), [("", 5), (" \u200b\n", 5), ("x", 0), ("x", 21), ("x", -1)])
async def test_a_query_or_count_that_makes_no_sense_is_refused(query: str, k: int) -> None:
    engine = Engine([])
    with pytest.raises(InputError):
        await search(engine, query, k)
    assert engine.asked == []


async def test_a_long_query_is_cut_before_it_is_sent() -> None:
    engine = Engine([])
    await search(engine, "lighthouse " * 500, 5)
    ((sent, n),) = engine.asked
    assert len(sent) <= 400 and n == 10


async def test_a_search_asks_the_folder_of_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "arkona.txt").write_text(f"Kap Arkona\n\n{TEXT}\n")
    monkeypatch.setenv("RAGWEAVE_WEB_FOLDER", str(folder))
    result = await search(make(), "When was the lighthouse of Arkona built?", 3)
    assert (result.provider, [p.title for p in result.pages]) == ("folder", ["Kap Arkona"])
    assert result.pages[0].url == (folder / "arkona.txt").as_uri()


async def test_no_address_that_a_provider_names_is_opened(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"url": site.url("/admin"), "title": "t", "content": "c"}, {"url": "http://localhost/", "title": "t"}]
    site.routes["/search"] = site.json({"results": rows})
    monkeypatch.setenv("RAGWEAVE_WEB_SEARX_URL", site.url(""))
    result = await search(make(), "lighthouse", 5)
    assert [p.text for p in result.pages] == ["c"]
    assert [path.partition("?")[0] for path in site.paths()] == ["/search"]


async def test_a_search_without_a_provider_says_what_to_set() -> None:
    with pytest.raises(WebError, match="No web search is configured"):
        await search(make(), "lighthouse", 5)
