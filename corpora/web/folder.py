"""A folder of saved pages that stands in for the web: offline, in a closed network, or in a test."""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections import Counter
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

_K1, _B = 1.2, 0.75  # Okapi BM25, the usual constants
_WEB = re.compile(r"https?://[\w-]+(?:\.[\w-]+)*\.[a-z][\w-]*(?::\d+)?(?:[/?#]\S*)?", re.I)
"""An address of the web, as a saved page may claim it."""


_Saved = tuple[WebPage, Counter[str]]
"""A page, and how often each term stands in its title and text."""


class Folder:
    """Ranks the pages of a folder by BM25 over their titles and texts.

    It holds .html, .htm, .md and .txt files, at any depth; hidden files and links are left out.
    """

    name = "folder"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def search(self, query: str, k: int) -> list[WebPage]:
        """Return at most k pages that share a term with the query, best first; WebError if the folder is not there."""
        return await asyncio.to_thread(self._search, query, k)

    def _search(self, query: str, k: int) -> list[WebPage]:
        wanted = content_terms(query) or terms(query)
        saved = self._pages()
        mean = sum(counts.total() for _, counts in saved) / len(saved) if saved else 1.0
        found = {term: sum(term in counts for _, counts in saved) for term in wanted}
        weight = {term: math.log(1 + (len(saved) - n + 0.5) / (n + 0.5)) for term, n in found.items() if n}

        def bm25(counts: Counter[str]) -> float:
            norm = _K1 * (1 - _B + _B * counts.total() / (mean or 1.0))
            return sum(idf * n * (_K1 + 1) / (n + norm) for t, idf in weight.items() if (n := counts[t]))

        scored = [(score, page) for page, counts in saved if (score := bm25(counts)) > 0]
        best = sorted(scored, key=lambda row: row[0], reverse=True)[:k]
        return [_with_snippet(page, set(wanted)) for _, page in best]

    def _pages(self) -> list[_Saved]:
        root = self._folder.expanduser().resolve()
        if not root.is_dir():
            raise WebError(
                f"The folder {self._folder} that stands in for the web is not there",
                "set RAGWEAVE_WEB_FOLDER",
            )
        files = [p for p in sorted(root.rglob("*")) if p.suffix.lower() in SUFFIXES and _is_page(p, root)]
        if len(files) > MAX_FILES:
            logger.warning("%s holds %d pages; only the first %d are searched", root, len(files), MAX_FILES)
        return [page for path in files[:MAX_FILES] if (page := _read(str(path), path.stat().st_mtime_ns))]


def _is_page(path: Path, root: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
    return not (hidden or path.is_symlink()) and path.is_file() and path.stat().st_size <= MAX_BYTES


@lru_cache(maxsize=MAX_FILES)
def _read(name: str, changed: int) -> _Saved | None:
    """Return a page, kept until its file changes; None where it holds no text."""
    path = Path(name)
    try:
        parsed = parse(path, probe(path))
    except SourceError as exc:
        logger.warning("%s cannot be read: %s", path, exc)
        return None
    text = "\n\n".join(block.text for block in parsed.blocks)
    text = plain(text, len(text))
    first = text.split("\n", 1)[0]
    title = one_line(parsed.title) or (first if len(first) <= 200 else path.stem.replace("_", " "))
    saved = datetime.fromtimestamp(changed / 1e9, UTC).isoformat(timespec="seconds")
    url = parsed.url.partition("#")[0] if _WEB.fullmatch(parsed.url) else path.as_uri()
    return WebPage(url, title, text, "", saved), Counter(terms(f"{title} {text}"))


def _with_snippet(page: WebPage, wanted: set[str]) -> WebPage:
    """Add the sentence that shares the most terms with the query, and what follows it."""
    spans = sentences(page.text) or [(0, len(page.text))]
    start, _ = max(spans, key=lambda span: len(wanted.intersection(terms(page.text[span[0] : span[1]]))))
    snippet = clip(one_line(page.text[start : start + 400], 400), 300)
    return replace(page, snippet=snippet)
