"""Web search that is safe to leave on: what a provider says is read as data, and no address that it names is opened."""

from ragweave.corpora.web.search import available, search_web
from ragweave.corpora.web.types import Page, WebResult

__all__ = ["Page", "WebResult", "available", "search_web"]
