"""Search engines, and which of them is asked. A new one is a class here and a line in `make`."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.web.folder import Folder
from ragweave.corpora.web.types import Provider, WebPage, now
from ragweave.models.errors import WebDown, WebError
from ragweave.models.settings import model_settings

TIMEOUT = 15.0
"""Seconds for one answer of a provider."""
_LONGEST = 100_000
"""Characters kept of a field of an answer."""
_LONGEST_ANSWER = 20_000_000
"""Bytes of a whole answer."""


def available() -> str:
    """Return the name of the provider that would be asked, "" where none is configured.

    A provider counts as configured only by Ragweave's own settings: a key of another program in the environment sends
    no question anywhere. Offline, only the folder is left.
    """
    settings = corpora_settings()
    if settings.web_folder is not None:
        return "folder"
    if model_settings().offline:
        return ""
    return "searx" if settings.web_searx_url else "tavily" if settings.tavily_key.get_secret_value() else ""


def make() -> Provider:
    """Make the provider that would be asked; WebError if none is configured."""
    settings = corpora_settings()
    match available():
        case "folder" if settings.web_folder is not None:
            return Folder(settings.web_folder)
        case "searx":
            return Searx(settings.web_searx_url)
        case "tavily":
            return Tavily(settings.tavily_key.get_secret_value())
    if model_settings().offline:
        raise WebError("Web search is off because RAGWEAVE_OFFLINE is set", "unset it, or set RAGWEAVE_WEB_FOLDER")
    raise WebError(
        "No web search is configured", "set RAGWEAVE_WEB_SEARX_URL, RAGWEAVE_TAVILY_KEY or RAGWEAVE_WEB_FOLDER"
    )


class Searx:
    """Asks a SearxNG server, which may be on this machine, through its JSON interface; it brings snippets."""

    name = "searx"

    def __init__(self, url: str, timeout: float = TIMEOUT) -> None:
        self._url = url.rstrip("/") + "/search"
        self._timeout = timeout

    async def search(self, query: str, k: int) -> list[WebPage]:
        """Return at most k results, best first."""
        request = httpx.Request("GET", self._url, params={"q": query, "format": "json"})
        remedy = "check RAGWEAVE_WEB_SEARX_URL, and allow the json format in the search section of its settings.yml"
        answer = await _asked(self.name, request, self._timeout, remedy)
        found = results(self.name, answer.get("results"), k)
        if not found and answer.get("unresponsive_engines"):
            raise WebDown("None of the engines behind the SearxNG server answered", "try again later")
        return found


class Tavily:
    """Asks Tavily, which brings the text of the pages along."""

    name = "tavily"

    def __init__(self, key: str, timeout: float = TIMEOUT, url: str = "https://api.tavily.com") -> None:
        self._key, self._timeout, self._url = key, timeout, url

    async def search(self, query: str, k: int) -> list[WebPage]:
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
        raise WebDown(f"The web search {name} could not be reached", remedy) from exc
    status = response.status_code
    if status in (429, 432, 433):
        raise WebDown(f"The web search {name} has no requests left ({status})", "wait a while or raise its limit")
    if status >= 500:
        raise WebDown(f"The web search {name} is down ({status})", "try again later")
    if status != 200:
        told = f"refused the request ({status})" if status in (401, 403) else f"answered with status {status}"
        raise WebError(f"The web search {name} {told}", remedy)
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as exc:
        raise WebError(f"The web search {name} answered with something else than JSON", remedy) from exc
    return answer if isinstance(answer, dict) else {}


def too_slow(name: str, seconds: float) -> WebDown:
    """Return the error for a provider that does not answer in time."""
    return WebDown(f"The web search {name} did not answer within {seconds:g} s", "try again later")


def results(name: str, rows: Any, k: int, *, text: str = "") -> list[WebPage]:
    """Read the rows of a provider's answer, their text in the field of that name; rows without an address are left out.

    Raises:
        WebError: the answer is no list.
    """
    if not isinstance(rows, list):
        raise WebError(f"The web search {name} answered without a list of results", "check its address and version")

    def text_of(row: dict[str, Any], key: str) -> str:
        return value[:_LONGEST] if isinstance(value := row.get(key), str) else ""

    kept = [row for row in rows if isinstance(row, dict) and isinstance(row.get("url"), str) and row["url"]][:k]
    at = now()
    return [WebPage(r["url"], text_of(r, "title"), text_of(r, text), text_of(r, "content"), at) for r in kept]
