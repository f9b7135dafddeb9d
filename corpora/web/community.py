"""Providers that need no key, through langchain-community (extra `community`)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from ragweave.corpora.web.providers import results
from ragweave.corpora.web.types import Found, now
from ragweave.models.errors import MissingExtra, RagweaveError, WebError

logger = logging.getLogger(__name__)

_MOST = 5
"""Articles read per search of Wikipedia; each costs a request."""


async def _call(name: str, work: Callable[[], list[Found]]) -> list[Found]:
    try:
        return await asyncio.to_thread(work)
    except ImportError as exc:
        raise MissingExtra(f"The web search {name}", "community") from exc
    except RagweaveError:
        raise
    except Exception as exc:
        # These clients scrape; what they raise changes with every release of theirs.
        logger.debug("%s failed", name, exc_info=True)
        raise WebError(f"The web search {name} failed ({type(exc).__name__})", "try again later") from exc


class DuckDuckGo:
    """Asks DuckDuckGo through the `ddgs` package."""

    name = "duckduckgo"
    local = False

    async def search(self, query: str, k: int) -> list[Found]:
        """Return at most k results, best first."""

        def work() -> list[Found]:
            from langchain_community.utilities.duckduckgo_search import DuckDuckGoSearchAPIWrapper

            rows: Any = DuckDuckGoSearchAPIWrapper(time=None).results(query, k)
            return results(self.name, rows, k, url="link", snippet="snippet")

        return await _call(self.name, work)


class Wikipedia:
    """Asks Wikipedia through the `wikipedia` package, which brings the text along.

    Args:
        limit: longest text of an article, in characters.
    """

    name = "wikipedia"
    local = False

    def __init__(self, limit: int = 20_000) -> None:
        self._limit = limit

    async def search(self, query: str, k: int) -> list[Found]:
        """Return at most k articles, best first."""

        def work() -> list[Found]:
            from langchain_community.utilities.wikipedia import WikipediaAPIWrapper

            wrapper: Any = WikipediaAPIWrapper(top_k_results=min(k, _MOST), doc_content_chars_max=self._limit)
            return [
                Found(
                    url=str(article.metadata.get("source", "")),
                    title=str(article.metadata.get("title", "")),
                    snippet=str(article.metadata.get("summary", "")),
                    text=article.page_content,
                    fetched=now(),
                )
                for article in wrapper.load(query)
            ]

        return await _call(self.name, work)
