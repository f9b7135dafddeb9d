"""Web search that is safe to leave on: providers, a fetcher that reaches public addresses only, cleaning, a cache."""

from ragweave.corpora.web.search import available, search_web
from ragweave.corpora.web.types import Page, WebResult

__all__ = ["Page", "WebResult", "available", "search_web"]
