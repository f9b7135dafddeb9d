"""SearxNG, a search engine that people run themselves, through its JSON interface."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ragweave.corpora.web.providers import results, status_error
from ragweave.corpora.web.types import Found
from ragweave.models.errors import InputError, WebError

if TYPE_CHECKING:
    import httpx

_MAX_ANSWER = 5_000_000


class Searx:
    """Asks a SearxNG server. Its address comes from the settings, so it may be on this machine.

    Args:
        url: base address.
        timeout: seconds.
    """

    name = "searx"
    local = False

    def __init__(self, url: str, timeout: float = 15.0) -> None:
        if not url.lower().startswith(("http://", "https://")):
            raise InputError(
                f"The SearxNG address {url[:80]!r} is neither http nor https", "set RAGWEAVE_WEB_SEARX_URL"
            )
        self._url = url.rstrip("/") + "/search"
        self._timeout = timeout

    async def search(self, query: str, k: int) -> list[Found]:
        """Return at most k results, best first."""
        import asyncio

        import httpx

        try:
            async with asyncio.timeout(self._timeout), httpx.AsyncClient(timeout=self._timeout) as client:
                async with client.stream("GET", self._url, params={"q": query, "format": "json"}) as response:
                    if response.status_code == 403:
                        raise WebError(
                            "The SearxNG server refused the request (403)",
                            "allow the json format in the search section of its settings.yml",
                        )
                    if response.status_code != 200:
                        raise status_error(self.name, response.status_code)
                    body = await _read(response)
        except TimeoutError as exc:
            raise WebError(
                f"The web search searx did not answer within {self._timeout:g} s", "try again later"
            ) from exc
        except (httpx.HTTPError, httpx.InvalidURL) as exc:
            raise WebError("The SearxNG server could not be reached", "check RAGWEAVE_WEB_SEARX_URL") from exc
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError) as exc:
            raise WebError(
                "The SearxNG server answered with something else than JSON",
                "check RAGWEAVE_WEB_SEARX_URL and allow the json format in its settings.yml",
            ) from exc
        found = results(self.name, answer.get("results") if isinstance(answer, dict) else None, k)
        if not found and answer.get("unresponsive_engines"):
            raise WebError("None of the engines behind the SearxNG server answered", "try again later")
        return found


async def _read(response: httpx.Response) -> bytes:
    data = bytearray()
    async for chunk in response.aiter_bytes():
        data += chunk
        if len(data) > _MAX_ANSWER:
            raise WebError("The answer of the SearxNG server is too large", "check RAGWEAVE_WEB_SEARX_URL")
    return bytes(data)
