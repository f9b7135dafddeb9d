"""Search engines for the web, and the choice of one. A new one is a class here and a line in `make`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial

import httpx

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.web.folder import Folder
from ragweave.corpora.web.types import Provider, WebPage, now
from ragweave.models.errors import WebDown, WebError
from ragweave.models.failures import loading
from ragweave.models.settings import model_settings

TIMEOUT = 15.0
"""Seconds for one reply of a provider."""
_LONGEST = 100_000
"""Characters kept of a field of a reply."""


def available() -> str:
    """Return the name of the configured provider, "" if there is none.

    Only Ragweave's own settings configure a provider: if the environment holds the key of another program, no
    query is sent. Offline, only the folder remains.
    """
    settings = corpora_settings()
    if settings.web_folder is not None:
        return "folder"
    if model_settings().offline:
        return ""
    if settings.web_searx_url:
        return "searx"
    if settings.tavily_key.get_secret_value():
        return "tavily"
    return ""


def make() -> Provider:
    """Return the configured provider; WebError if there is none."""
    settings = corpora_settings()
    match available():
        case "folder" if settings.web_folder is not None:
            return Folder(settings.web_folder)
        case "searx":
            return Searx(settings.web_searx_url)
        case "tavily":
            return Tavily(settings.tavily_key.get_secret_value())
    if model_settings().offline:
        raise WebError(
            "Web search is off because RAGWEAVE_OFFLINE is set", "unset it, or set RAGWEAVE_WEB_FOLDER"
        )
    raise WebError(
        "No web search is configured",
        "set RAGWEAVE_WEB_SEARX_URL, RAGWEAVE_TAVILY_KEY or RAGWEAVE_WEB_FOLDER",
    )


class Searx:
    """Searches through a SearxNG server with LangChain's wrapper; results have snippets only."""

    name, brings_text = "searx", False

    def __init__(self, url: str, timeout: float = TIMEOUT) -> None:
        with loading("Web search by SearxNG", "web"):
            from langchain_community.utilities.searx_search import SearxSearchWrapper
        # Without a language, the wrapper requests results in English.
        self._wrapper = SearxSearchWrapper(
            searx_host=url.rstrip("/") + "/search", params={"language": "auto"}
        )
        self._timeout = timeout

    async def search(self, query: str, k: int) -> list[WebPage]:
        """Return at most k results, best first."""
        import aiohttp

        wrapper = self._wrapper.model_copy()  # A wrapper keeps its last reply.
        remedy = (
            "check RAGWEAVE_WEB_SEARX_URL, and allow the json format in the search section of its"
            " settings.yml"
        )
        try:
            async with asyncio.timeout(self._timeout):
                rows = await wrapper.aresults(query, k)
        except TimeoutError as exc:
            raise too_slow(self.name, self._timeout) from exc
        except (aiohttp.ClientError, OSError) as exc:
            raise _away(self.name, remedy) from exc
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as exc:
            # The error of the wrapper holds the bound method that reads the text of the refused reply.
            refused = getattr(exc.args[-1] if exc.args else None, "__self__", None)
            if isinstance(refused, aiohttp.ClientResponse):
                raise _refused(self.name, refused.status, remedy) from None
            raise WebError(
                f"The web search {self.name} answered with something else than results", remedy
            ) from exc
        found = _pages([(r.get("link"), r.get("title"), "", r.get("snippet")) for r in rows], k)
        if not found and wrapper._result.get("unresponsive_engines"):
            raise WebDown("None of the engines behind the SearxNG server answered", "try again later")
        return found


class Tavily:
    """Searches with Tavily's own client; results have the text of the pages."""

    name, brings_text = "tavily", True

    def __init__(self, key: str, timeout: float = TIMEOUT, client: httpx.AsyncClient | None = None) -> None:
        # Without a key, the client would use one from the environment, or search anonymously.
        if not key:
            raise WebError("Tavily needs a key", "set RAGWEAVE_TAVILY_KEY")
        with loading("Web search by Tavily", "web"):
            from tavily import AsyncTavilyClient
        self._client, self._timeout = partial(AsyncTavilyClient, key, client=client), timeout

    async def search(self, query: str, k: int) -> list[WebPage]:
        """Return at most k results, best first."""
        from tavily import errors

        remedy = "check RAGWEAVE_TAVILY_KEY and the network"
        try:
            async with asyncio.timeout(self._timeout), self._client() as client:
                answer = await client.search(
                    query, max_results=min(k, 20), include_raw_content="text", timeout=self._timeout
                )
            rows = [
                (r.get("url"), r.get("title"), r.get("raw_content"), r.get("content"))
                for r in answer["results"]
            ]
        except (TimeoutError, errors.TimeoutError) as exc:
            raise too_slow(self.name, self._timeout) from exc
        except errors.UsageLimitExceededError:
            raise _refused(self.name, 429, remedy) from None
        except errors.InvalidAPIKeyError:
            raise WebError(
                "Tavily does not know the key", "set RAGWEAVE_TAVILY_KEY to one of your account"
            ) from None
        except errors.ForbiddenError:
            raise WebDown(
                "Tavily refuses the key, or what its plan allows is used up",
                "look at the usage of the account",
            ) from None
        except errors.BadRequestError:
            raise _refused(self.name, 400, remedy) from None
        except httpx.HTTPStatusError as exc:
            raise _refused(self.name, exc.response.status_code, remedy) from None
        except httpx.HTTPError as exc:
            raise _away(self.name, remedy) from exc
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as exc:
            raise WebError(
                f"The web search {self.name} answered with something else than results", remedy
            ) from exc
        return _pages(rows, k)


def too_slow(name: str, seconds: float) -> WebDown:
    """Return the error for a provider that does not answer in time."""
    return WebDown(f"The web search {name} did not answer within {seconds:g} s", "try again later")


def _away(name: str, remedy: str) -> WebDown:
    return WebDown(f"The web search {name} could not be reached", remedy)


def _refused(name: str, status: int, remedy: str) -> WebError:
    if status == 429:
        return WebDown(
            f"The web search {name} has no requests left ({status})", "wait a while or raise its limit"
        )
    if status >= 500:
        return WebDown(f"The web search {name} is down ({status})", "try again later")
    return WebError(f"The web search {name} refused the request ({status})", remedy)


def _pages(rows: Iterable[tuple[object, object, object, object]], k: int) -> list[WebPage]:
    """Return the first k pages from rows of (address, title, text, snippet).

    A row without an address is left out; a field that is no text becomes "".
    """
    fetched = now()
    pages = []
    for address, title, text, snippet in rows:
        if isinstance(address, str) and address:
            pages.append(WebPage(address, _text(title), _text(text), _text(snippet), fetched))
    return pages[:k]


def _text(value: object) -> str:
    """Return a field of a reply, cut to its longest length; "" if it is no text."""
    return value[:_LONGEST] if isinstance(value, str) else ""
