"""Tavily, a paid search service, through its own client."""

from __future__ import annotations

from ragweave.corpora.web.providers import results, status_error
from ragweave.corpora.web.types import Found
from ragweave.models.errors import WebError


class Tavily:
    """Asks Tavily.

    Args:
        key: API key.
        timeout: seconds.
        url: base address of a compatible server; "" is Tavily's own.
    """

    name = "tavily"
    local = False

    def __init__(self, key: str, timeout: float = 15.0, url: str = "") -> None:
        self._key = key
        self._timeout = timeout
        self._url = url

    async def search(self, query: str, k: int) -> list[Found]:
        """Return at most k results, best first."""
        import httpx
        from tavily import AsyncTavilyClient, errors

        try:
            async with AsyncTavilyClient(api_key=self._key, api_base_url=self._url or None) as client:
                answer = await client.search(query, max_results=min(k, 20), timeout=self._timeout)
        except errors.InvalidAPIKeyError as exc:
            raise status_error(self.name, 401) from exc
        except errors.ForbiddenError as exc:
            raise status_error(self.name, 403) from exc
        except errors.UsageLimitExceededError as exc:
            raise status_error(self.name, 429) from exc
        except errors.BadRequestError as exc:
            raise status_error(self.name, 400) from exc
        except httpx.HTTPStatusError as exc:
            raise status_error(self.name, exc.response.status_code) from exc
        except (errors.TimeoutError, TimeoutError) as exc:
            raise WebError(
                f"The web search tavily did not answer within {self._timeout:g} s", "try again later"
            ) from exc
        except httpx.HTTPError as exc:
            raise WebError("The web search tavily could not be reached", "check the network") from exc
        except (ValueError, AttributeError, TypeError) as exc:
            raise WebError("The web search tavily answered with something else than JSON", "check its address") from exc
        return results(self.name, answer.get("results") if isinstance(answer, dict) else None, k)
