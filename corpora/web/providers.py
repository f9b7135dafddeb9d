"""Which search provider is asked, and what all of them share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ragweave.corpora.web.settings import WebSettings
from ragweave.corpora.web.types import Found, Provider
from ragweave.models.errors import InputError, WebError


def _folder(settings: WebSettings) -> Provider:
    from ragweave.corpora.web.folder import Folder

    if settings.folder is None:
        raise WebError("The folder provider has no folder", "set RAGWEAVE_WEB_FOLDER")
    return Folder(settings.folder, settings.page_chars)


def _searx(settings: WebSettings) -> Provider:
    from ragweave.corpora.web.searx import Searx

    if not settings.searx_url:
        raise WebError("The searx provider has no server", "set RAGWEAVE_WEB_SEARX_URL")
    return Searx(settings.searx_url, settings.search_timeout)


def _tavily(settings: WebSettings) -> Provider:
    from ragweave.corpora.web.tavily import Tavily

    key = settings.tavily_key.get_secret_value() or settings.found_tavily_key.get_secret_value()
    if not key:
        raise WebError("The tavily provider has no key", "set RAGWEAVE_TAVILY_KEY")
    return Tavily(key, settings.search_timeout, settings.tavily_url)


def _duckduckgo(settings: WebSettings) -> Provider:
    from ragweave.corpora.web.community import DuckDuckGo

    return DuckDuckGo()


def _wikipedia(settings: WebSettings) -> Provider:
    from ragweave.corpora.web.community import Wikipedia

    return Wikipedia(settings.page_chars)


PROVIDERS: Mapping[str, Callable[[WebSettings], Provider]] = {
    "folder": _folder,
    "searx": _searx,
    "tavily": _tavily,
    "duckduckgo": _duckduckgo,
    "wikipedia": _wikipedia,
}
"""Makers by name. A new provider is one file and one line here."""


def chosen(settings: WebSettings, name: str | None = None) -> str:
    """Return the name of the provider that would be asked, "" where none is configured.

    A provider counts as configured only by Ragweave's own settings: a key of another program in the environment sends
    no question anywhere, unless the provider is set to "auto" or "tavily". Offline, only the folder is left.
    """
    named = (name or settings.provider).strip().lower()
    if named and named != "auto":
        if named not in PROVIDERS:
            raise InputError(f"There is no web provider {named[:40]!r}", f"choose one of {', '.join(PROVIDERS)}")
        return "" if settings.offline and named != "folder" else named
    if settings.folder is not None:
        return "folder"
    if settings.offline:
        return ""
    if settings.searx_url:
        return "searx"
    found = settings.found_tavily_key.get_secret_value() if named == "auto" else ""
    return "tavily" if settings.tavily_key.get_secret_value() or found else ""


def make(settings: WebSettings, name: str | None = None) -> Provider:
    """Make the provider that would be asked.

    Raises:
        WebError: none is configured, or the named one lacks its address, folder or key.
        MissingExtra: its package is not installed.
        InputError: there is no provider of that name.
    """
    picked = chosen(settings, name)
    if picked:
        return PROVIDERS[picked](settings)
    if settings.offline:
        raise WebError("Web search is off because RAGWEAVE_OFFLINE is set", "unset it, or set RAGWEAVE_WEB_FOLDER")
    raise WebError(
        "No web search is configured", "set RAGWEAVE_WEB_SEARX_URL, RAGWEAVE_TAVILY_KEY or RAGWEAVE_WEB_FOLDER"
    )


def status_error(name: str, status: int) -> WebError:
    """Return the error for an HTTP status of a provider."""
    if status in (401, 403):
        return WebError(f"The web search {name} refused the request ({status})", "check its key and its settings")
    if status in (429, 432, 433):
        return WebError(f"The web search {name} has no requests left ({status})", "wait a while or raise its limit")
    if status >= 500:
        return WebError(f"The web search {name} is down ({status})", "try again later")
    return WebError(f"The web search {name} answered with status {status}", "check its address")


def results(
    name: str, rows: Any, k: int, *, url: str = "url", title: str = "title", snippet: str = "content"
) -> list[Found]:
    """Read the rows of a provider's answer; rows without an address are left out.

    Raises:
        WebError: the answer is no list.
    """
    if not isinstance(rows, list):
        raise WebError(f"The web search {name} answered without a list of results", "check its address and version")
    return list(_rows(rows, url, title, snippet))[:k]


def _rows(rows: Iterable[Any], url: str, title: str, snippet: str) -> Iterable[Found]:
    for row in rows:
        if isinstance(row, dict) and isinstance(row.get(url), str) and row[url]:
            yield Found(row[url], _string(row.get(title)), _string(row.get(snippet)))


def _string(value: Any) -> str:
    return value[:20_000] if isinstance(value, str) else ""
