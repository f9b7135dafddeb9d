"""Search a folder of saved pages instead of the web: offline, in a closed network, or in a test."""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from ragweave.corpora.formats import parse
from ragweave.corpora.formats.probe import probe
from ragweave.corpora.web.plain import one_line, plain
from ragweave.corpora.web.types import WebPage
from ragweave.models.errors import SourceError, WebError
from ragweave.models.text import clip, content_terms, sentences, terms

logger = logging.getLogger(__name__)

SUFFIXES = (".html", ".htm", ".md", ".txt")
MAX_FILES = 5_000
MAX_BYTES = 5_000_000

_K1, _B = 1.2, 0.75
"""Usual constants of Okapi BM25."""
_LONGEST_TITLE = 200
"""Characters of a first line that can be a title."""
_WEB = re.compile(r"https?://[\w-]+(?:\.[\w-]+)*\.[a-z][\w-]*(?::\d+)?(?:[/?#]\S*)?", re.I)
"""An address of the web that a saved page may claim as its own."""


_Saved = tuple[WebPage, Counter[str]]
"""A page, and how often each term occurs in its title and text."""


class Folder:
    """Ranks the pages of a folder by BM25 over their titles and texts.

    Pages are .html, .htm, .md and .txt files at any depth; hidden files and links are left out.
    """

    name, brings_text = "folder", True

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def search(self, query: str, k: int) -> list[WebPage]:
        """Return at most k pages that share a term with the query, best first.

        Raises:
            WebError: the folder does not exist.
        """
        return await asyncio.to_thread(self._search, query, k)

    def _search(self, query: str, k: int) -> list[WebPage]:
        wanted = content_terms(query) or terms(query)
        saved = self._pages()
        weights = _weights(wanted, saved)
        mean = _mean_length(saved)
        scored = []
        for page, counts in saved:
            score = _bm25(counts, weights, mean)
            if score > 0:
                scored.append((score, page))
        scored.sort(key=lambda row: row[0], reverse=True)
        return [_with_snippet(page, set(wanted)) for _, page in scored[:k]]

    def _pages(self) -> list[_Saved]:
        root = self._folder.expanduser().resolve()
        if not root.is_dir():
            raise WebError(
                f"The folder {self._folder} that replaces the web is not there",
                "set RAGWEAVE_WEB_FOLDER",
            )
        files = []
        for path in sorted(root.rglob("*")):
            if path.suffix.lower() in SUFFIXES and _is_page(path, root):
                files.append(path)
        if len(files) > MAX_FILES:
            logger.warning("%s holds %d pages; only the first %d are searched", root, len(files), MAX_FILES)
        pages = []
        for path in files[:MAX_FILES]:
            page = _read(str(path), path.stat().st_mtime_ns)
            if page is not None:
                pages.append(page)
        return pages


def _mean_length(saved: Sequence[_Saved]) -> float:
    """Return the mean number of terms of pages, 1 if there are none."""
    if not saved:
        return 1.0
    total = 0
    for _, counts in saved:
        total += counts.total()
    return total / len(saved) or 1.0


def _weights(wanted: Iterable[str], saved: Sequence[_Saved]) -> dict[str, float]:
    """Return the inverse document frequency of each term that some page has."""
    weights = {}
    for term in wanted:
        n = 0
        for _, counts in saved:
            if term in counts:
                n += 1
        if n:
            weights[term] = math.log(1 + (len(saved) - n + 0.5) / (n + 0.5))
    return weights


def _bm25(counts: Counter[str], weights: Mapping[str, float], mean: float) -> float:
    """Return the BM25 score of a page with these terms; `mean` is the mean number of terms of a page."""
    norm = _K1 * (1 - _B + _B * counts.total() / mean)
    parts = []
    for term, weight in weights.items():
        n = counts[term]
        if n:
            parts.append(weight * n * (_K1 + 1) / (n + norm))
    return sum(parts)


def _is_page(path: Path, root: Path) -> bool:
    """Return whether a path is a file that is neither hidden, nor a link, nor too large."""
    for part in path.relative_to(root).parts:
        if part.startswith("."):
            return False
    if path.is_symlink() or not path.is_file():
        return False
    return path.stat().st_size <= MAX_BYTES


@lru_cache(maxsize=MAX_FILES)
def _read(name: str, changed: int) -> _Saved | None:
    """Return a page, cached until its file changes; None if it cannot be read."""
    path = Path(name)
    try:
        parsed = parse(path, probe(path))
    except SourceError as exc:
        logger.warning("%s cannot be read: %s", path, exc)
        return None
    text = plain(parsed.text, len(parsed.text))
    title = one_line(parsed.title) or _title_from(text, path)
    saved = datetime.fromtimestamp(changed / 1e9, UTC).isoformat(timespec="seconds")
    url = parsed.url.partition("#")[0] if _WEB.fullmatch(parsed.url) else path.as_uri()
    return WebPage(url, title, text, "", saved), Counter(terms(f"{title} {text}"))


def _title_from(text: str, path: Path) -> str:
    """Return the first line of a page, or the words of its file name if that line is too long."""
    first = text.split("\n", 1)[0]
    if len(first) <= _LONGEST_TITLE:
        return first
    return path.stem.replace("_", " ")


def _with_snippet(page: WebPage, wanted: set[str]) -> WebPage:
    """Add the sentence that shares the most terms with the query, and the text after it."""
    spans = sentences(page.text) or [(0, len(page.text))]

    def shared(span: tuple[int, int]) -> int:
        start, end = span
        return len(wanted.intersection(terms(page.text[start:end])))

    start, _ = max(spans, key=shared)
    snippet = clip(one_line(page.text[start : start + 400], 400), 300)
    return replace(page, snippet=snippet)
