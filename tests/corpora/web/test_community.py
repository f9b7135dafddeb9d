"""The wrappers of langchain-community 0.4 are replaced by doubles with their calls and rows."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest
from langchain_core.documents import Document

from ragweave.corpora.web.providers import make
from ragweave.models.errors import MissingExtra, WebError


def install(monkeypatch: pytest.MonkeyPatch, module: str, name: str, wrapper: Any) -> None:
    for parent in ("langchain_community", "langchain_community.utilities"):
        monkeypatch.setitem(sys.modules, parent, ModuleType(parent))
    found = ModuleType(module)
    setattr(found, name, wrapper)
    monkeypatch.setitem(sys.modules, f"langchain_community.utilities.{module}", found)


async def test_duckduckgo_rows_become_results_of_any_age(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    class Wrapper:
        def __init__(self, time: str | None = "y") -> None:
            asked.append(time)

        def results(self, query: str, max_results: int) -> list[dict[str, str]]:
            asked.append((query, max_results))
            return [{"snippet": "about a", "title": "A", "link": "https://a.example/"}, {"title": "no link"}]

    install(monkeypatch, "duckduckgo_search", "DuckDuckGoSearchAPIWrapper", Wrapper)
    (found,) = await make("duckduckgo").search("lighthouse", 4)
    assert (found.url, found.title, found.snippet, found.text) == ("https://a.example/", "A", "about a", "")
    assert asked == [None, ("lighthouse", 4)]


async def test_wikipedia_articles_bring_their_text_and_cost_few_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, int] = {}

    class Wrapper:
        def __init__(self, **options: int) -> None:
            asked.update(options)

        def load(self, query: str) -> list[Document]:
            about = {"title": "Kap Arkona", "summary": "A cape.", "source": "https://en.wikipedia.org/wiki/Arkona"}
            return [Document(page_content="A cape on Rügen.", metadata=about)]

    install(monkeypatch, "wikipedia", "WikipediaAPIWrapper", Wrapper)
    (found,) = await make("wikipedia").search("arkona", 20)
    assert (found.url, found.title) == ("https://en.wikipedia.org/wiki/Arkona", "Kap Arkona")
    assert (found.snippet, found.text, bool(found.fetched)) == ("A cape.", "A cape on Rügen.", True)
    assert asked == {"top_k_results": 5, "doc_content_chars_max": 20_000}


@pytest.mark.parametrize(
    ("raised", "expected"), [(RuntimeError("202 Ratelimit"), WebError), (ImportError("no ddgs"), MissingExtra)]
)
async def test_whatever_the_wrapper_raises_is_a_sentence(
    raised: Exception, expected: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Wrapper:
        def __init__(self, **_: object) -> None:
            raise raised

    install(monkeypatch, "duckduckgo_search", "DuckDuckGoSearchAPIWrapper", Wrapper)
    with pytest.raises(expected, match="duckduckgo"):
        await make("duckduckgo").search("x", 1)
