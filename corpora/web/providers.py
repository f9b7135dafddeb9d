"""Search engines, and which of them is asked. A new one is a class here and a line in `make`."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import httpx

from ragweave.corpora.settings import CorporaSettings, corpora_settings
from ragweave.corpora.web.clean import PAGE_CHARS
from ragweave.corpora.web.folder import Folder
from ragweave.corpora.web.types import Found, Provider, now
from ragweave.models.errors import InputError, MissingExtra, RagweaveError, WebError
from ragweave.models.settings import model_settings

logger = logging.getLogger(__name__)

PROVIDERS = ("folder", "searx", "tavily", "duckduckgo", "wikipedia")
TIMEOUT = 15.0
"""Seconds for one answer of a provider."""
_LONGEST = 100_000
"""Characters kept of a field of an answer."""
_LONGEST_ANSWER = 20_000_000
"""Bytes of a whole answer."""
_ARTICLES = 5
"""Read per search of Wikipedia; each costs a request."""


def chosen(settings: CorporaSettings, name: str | None = None) -> str:
    """Return the name of the provider that would be asked, "" where none is configured.

    A provider counts as configured only by Ragweave's own settings: a key of another program in the environment sends
    no question anywhere. Offline, only the folder is left.

    Raises:
        InputError: there is no provider of that name.
    """
    offline = model_settings().offline
    if named := (name or settings.web_provider).strip().lower():
        if named not in PROVIDERS:
            raise InputError(f"There is no web provider {named[:40]!r}", f"choose one of {', '.join(PROVIDERS)}")
        return "" if offline and named != "folder" else named
    if settings.web_folder is not None:
        return "folder"
    if offline:
        return ""
    return "searx" if settings.web_searx_url else "tavily" if settings.tavily_key.get_secret_value() else ""


def make(name: str | None = None) -> Provider:
    """Make the provider that would be asked.

    Raises:
        WebError: none is configured, or the named one lacks its address, folder or key.
        InputError: there is no provider of that name.
    """
    settings = corpora_settings()
    needs = {"folder": "folder: WEB_FOLDER", "searx": "server: WEB_SEARX_URL", "tavily": "key: TAVILY_KEY"}
    match found := chosen(settings, name):
        case "folder" if settings.web_folder is not None:
            return Folder(settings.web_folder)
        case "searx" if settings.web_searx_url:
            return Searx(settings.web_searx_url)
        case "tavily" if key := settings.tavily_key.get_secret_value():
            return Tavily(key)
        case "duckduckgo":
            return Community("duckduckgo", _duckduckgo)
        case "wikipedia":
            return Community("wikipedia", _wikipedia)
        case "folder" | "searx" | "tavily":
            lacks, _, variable = needs[found].partition(": ")
            raise WebError(f"The {found} provider has no {lacks}", f"set RAGWEAVE_{variable}")
    if model_settings().offline:
        raise WebError("Web search is off because RAGWEAVE_OFFLINE is set", "unset it, or set RAGWEAVE_WEB_FOLDER")
    raise WebError(
        "No web search is configured", "set RAGWEAVE_WEB_SEARX_URL, RAGWEAVE_TAVILY_KEY or RAGWEAVE_WEB_FOLDER"
    )


class Searx:
    """Asks a SearxNG server through its JSON interface; it may be on this machine."""

    name = "searx"
    local = False

    def __init__(self, url: str, timeout: float = TIMEOUT) -> None:
        self._url = url.rstrip("/") + "/search"
        self._timeout = timeout

    async def search(self, query: str, k: int) -> list[Found]:
        """Return at most k results, best first."""
        request = httpx.Request("GET", self._url, params={"q": query, "format": "json"})
        remedy = "check RAGWEAVE_WEB_SEARX_URL, and allow the json format in the search section of its settings.yml"
        answer = await _asked(self.name, request, self._timeout, remedy)
        found = results(self.name, answer.get("results"), k)
        if not found and answer.get("unresponsive_engines"):
            raise WebError("None of the engines behind the SearxNG server answered", "try again later")
        return found


class Tavily:
    """Asks Tavily, which brings the text of the pages along."""

    name = "tavily"
    local = False

    def __init__(self, key: str, timeout: float = TIMEOUT, url: str = "https://api.tavily.com") -> None:
        self._key, self._timeout, self._url = key, timeout, url

    async def search(self, query: str, k: int) -> list[Found]:
        """Return at most k results, best first."""
        body = {"query": query, "max_results": min(k, 20), "include_raw_content": "text"}
        headers = {"Authorization": f"Bearer {self._key}"}
        request = httpx.Request("POST", f"{self._url}/search", json=body, headers=headers)
        answer = await _asked(self.name, request, self._timeout, "check RAGWEAVE_TAVILY_KEY and the network")
        return results(self.name, answer.get("results"), k, text="raw_content")


async def _asked(name: str, request: httpx.Request, seconds: float, remedy: str) -> dict[str, Any]:
    """Send a request of a provider and return its JSON object, an empty one for any other value."""
    try:
        async with asyncio.timeout(seconds), httpx.AsyncClient(timeout=seconds) as client:
            response = await client.send(request, stream=True)
            body = bytearray()
            async for part in response.aiter_bytes():
                body += part
                if len(body) > _LONGEST_ANSWER:
                    raise WebError(f"The answer of the web search {name} is too large", remedy)
    except (TimeoutError, httpx.TimeoutException) as exc:
        raise too_slow(name, seconds) from exc
    except (httpx.HTTPError, httpx.InvalidURL) as exc:
        raise WebError(f"The web search {name} could not be reached", remedy) from exc
    status = response.status_code
    if status in (429, 432, 433):
        raise WebError(f"The web search {name} has no requests left ({status})", "wait a while or raise its limit")
    if status >= 500:
        raise WebError(f"The web search {name} is down ({status})", "try again later")
    if status != 200:
        told = f"refused the request ({status})" if status in (401, 403) else f"answered with status {status}"
        raise WebError(f"The web search {name} {told}", remedy)
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as exc:
        raise WebError(f"The web search {name} answered with something else than JSON", remedy) from exc
    return answer if isinstance(answer, dict) else {}


class Community:
    """A site that needs no key, asked through langchain-community (extra `community`)."""

    local = False

    def __init__(self, name: str, ask: Callable[[str, int], list[Found]]) -> None:
        self.name, self._ask = name, ask

    async def search(self, query: str, k: int) -> list[Found]:
        """Return at most k results, best first."""
        try:
            return await asyncio.to_thread(self._ask, query, k)
        except ImportError as exc:
            raise MissingExtra(f"The web search {self.name}", "community") from exc
        except RagweaveError:
            raise
        except Exception as exc:
            # These clients scrape; what they raise changes with every release of theirs.
            logger.debug("%s failed", self.name, exc_info=True)
            raise WebError(f"The web search {self.name} failed ({type(exc).__name__})", "try again later") from exc


def _duckduckgo(query: str, k: int) -> list[Found]:
    from langchain_community.utilities.duckduckgo_search import DuckDuckGoSearchAPIWrapper

    rows: Any = DuckDuckGoSearchAPIWrapper(time=None).results(query, k)
    return results("duckduckgo", rows, k, url="link", snippet="snippet")


def _wikipedia(query: str, k: int) -> list[Found]:
    """Return articles with their text."""
    from langchain_community.utilities.wikipedia import WikipediaAPIWrapper

    wrapper: Any = WikipediaAPIWrapper(top_k_results=min(k, _ARTICLES), doc_content_chars_max=PAGE_CHARS)
    told = [{**article.metadata, "text": article.page_content} for article in wrapper.load(query)]
    return results("wikipedia", told, k, url="source", snippet="summary", text="text")


def too_slow(name: str, seconds: float) -> WebError:
    """Return the error for a provider that does not answer in time."""
    return WebError(f"The web search {name} did not answer within {seconds:g} s", "try again later")


def results(name: str, rows: Any, k: int, *, url: str = "url", snippet: str = "content", text: str = "") -> list[Found]:
    """Read the rows of a provider's answer by the names of their fields; rows without an address are left out.

    Raises:
        WebError: the answer is no list.
    """
    if not isinstance(rows, list):
        raise WebError(f"The web search {name} answered without a list of results", "check its address and version")

    def text_of(row: dict[str, Any], key: str) -> str:
        return value[:_LONGEST] if isinstance(value := row.get(key), str) else ""

    kept = [row for row in rows if isinstance(row, dict) and isinstance(row.get(url), str) and row[url]][:k]
    at = now() if text else ""
    return [Found(r[url], text_of(r, "title"), text_of(r, snippet), text_of(r, text), at) for r in kept]
