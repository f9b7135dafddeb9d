"""A folder of saved pages that stands in for the web: offline, in a closed network, or in a test."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import re
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ragweave.corpora.web.addresses import check_url
from ragweave.corpora.web.charset import decode
from ragweave.corpora.web.clean import canonical, clean
from ragweave.corpora.web.plain import one_line
from ragweave.corpora.web.types import Found, Refused
from ragweave.models.errors import WebError
from ragweave.models.text import clip, content_terms, sentences, terms

logger = logging.getLogger(__name__)

SUFFIXES = {".html": "text/html", ".htm": "text/html", ".md": "text/markdown", ".txt": "text/plain"}
MAX_FILES = 5_000
MAX_BYTES = 5_000_000

_K1, _B = 1.2, 0.75  # Okapi BM25, the usual constants
_FRONT = re.compile(r"---\s*\n(?P<fields>(?:[^\n]*\n){0,40}?)---\s*\n")
_FIELD = re.compile(r"^(title|url|source)\s*:\s*[\"']?(.*?)[\"']?\s*$", re.M | re.I)


@dataclass(frozen=True, slots=True)
class _Saved:
    page: Found
    counts: Counter[str]
    length: int


_READ: dict[tuple[str, int], tuple[tuple[int, int], _Saved | None]] = {}
"""Pages read so far by (path, limit), each with the size and time of its file."""
_LOCK = threading.Lock()


class Folder:
    """Ranks the pages of a folder by BM25 over their titles and texts.

    Args:
        folder: holds .html, .htm, .md and .txt files, at any depth; hidden files and links are left out.
        limit: longest text of a page, in characters.
    """

    name = "folder"
    local = True

    def __init__(self, folder: Path, limit: int = 20_000) -> None:
        self._folder = folder
        self._limit = limit

    async def search(self, query: str, k: int) -> list[Found]:
        """Return at most k pages that share a term with the query, best first.

        Raises:
            WebError: the folder is not there.
        """
        return await asyncio.to_thread(self._search, query, k)

    def _search(self, query: str, k: int) -> list[Found]:
        wanted = content_terms(query) or terms(query)
        with _LOCK:
            saved = list(self._pages())
        if not saved:
            return []
        mean = sum(page.length for page in saved) / len(saved) or 1.0
        found = {term: sum(term in page.counts for page in saved) for term in wanted}
        weight = {term: math.log(1 + (len(saved) - n + 0.5) / (n + 0.5)) for term, n in found.items() if n}
        scored = [(_bm25(page, weight, mean), -i, page.page) for i, page in enumerate(saved)]
        best = sorted((row for row in scored if row[0] > 0), key=lambda row: row[:2], reverse=True)[:k]
        return [_with_snippet(page, set(wanted)) for _, _, page in best]

    def _pages(self) -> Iterable[_Saved]:
        root = self._folder.expanduser().resolve()
        if not root.is_dir():
            raise WebError(
                f"The folder {self._folder} that stands in for the web is not there", "set RAGWEAVE_WEB_FOLDER"
            )
        files = sorted(_walk(root))
        if len(files) > MAX_FILES:
            logger.warning("%s holds %d pages; only the first %d are searched", root, len(files), MAX_FILES)
        for path, size, changed in files[:MAX_FILES]:
            key, stamp = (path, self._limit), (size, changed)
            if key not in _READ or _READ[key][0] != stamp:
                try:
                    _READ[key] = (stamp, _read(Path(path), self._limit) if size <= MAX_BYTES else None)
                except OSError as exc:
                    logger.warning("%s cannot be read: %s", path, exc)
                    continue
            page = _READ[key][1]
            if page is not None:
                yield page


def _walk(root: Path) -> Iterable[tuple[str, int, int]]:
    """Yield path, size and time of change of every page, without following links."""
    for folder, folders, _ in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        with os.scandir(folder) as entries:
            for entry in entries:
                suffix = os.path.splitext(entry.name)[1].lower()
                if suffix in SUFFIXES and not entry.name.startswith(".") and entry.is_file(follow_symlinks=False):
                    stat = entry.stat(follow_symlinks=False)
                    yield entry.path, stat.st_size, stat.st_mtime_ns


def _read(path: Path, limit: int) -> _Saved | None:
    data = path.read_bytes()
    media_type = SUFFIXES[path.suffix.lower()]
    fields: dict[str, str] = {}
    if media_type == "text/html":
        fields["url"] = canonical(decode(data))
    elif front := _FRONT.match(text := decode(data)):
        fields = {name.lower(): value for name, value in _FIELD.findall(front["fields"])}
        data = text[front.end() :].encode()
    cleaned = clean(data, media_type, limit=limit)
    if not cleaned.text:
        return None
    title = one_line(fields.get("title", "")) or cleaned.title or path.stem.replace("_", " ")
    saved = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
    url = _address(fields.get("url") or fields.get("source", ""), path)
    counts = Counter(terms(f"{title} {cleaned.text}"))
    return _Saved(Found(url, title, text=cleaned.text, fetched=saved), counts, counts.total())


def _address(claimed: str, path: Path) -> str:
    """Return the address that a saved page claims when it is one of the web, else that of the file."""
    try:
        return check_url(claimed).url
    except Refused:
        return path.as_uri()


def _bm25(page: _Saved, weight: dict[str, float], mean: float) -> float:
    score = 0.0
    for term, idf in weight.items():
        n = page.counts[term]
        score += idf * n * (_K1 + 1) / (n + _K1 * (1 - _B + _B * page.length / mean))
    return score


def _with_snippet(page: Found, wanted: set[str]) -> Found:
    """Add the sentence that shares the most terms with the query, and what follows it."""
    spans = sentences(page.text) or [(0, len(page.text))]
    start, _ = max(spans, key=lambda span: len(wanted.intersection(terms(page.text[span[0] : span[1]]))))
    return Found(
        page.url, page.title, clip(one_line(page.text[start : start + 400], 400), 300), page.text, page.fetched
    )
