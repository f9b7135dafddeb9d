"""Find the title of a document from its first page, its metadata and the name of its file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from ragweave.corpora.blocks import Block
from ragweave.models.text import words

_JUNK = re.compile(
    r"microsoft (?:word|powerpoint)|untitled|\.(?:docx?|tex|dvi|indd|pptx?|xlsx?|qxd|pdf|rtf|od[tps])\b|"
    r"\A[^\W\d_]{0,4}[\d_.-]*\d[\w.-]*\Z",
    re.I,
)
"""Titles that a program wrote: its own name, the name of a file, or a filing number."""
_SAID = 0.5
"""Smallest share of the words of a title in the metadata that the first pages or the file name have too."""
_PAGES = 2
"""Number of first pages that can confirm a title."""
_COVER = 60
"""Number of lines of the cover of a filing."""
_LINE = 400
"""Number of characters to read of a line of the cover."""
_REGISTRANT = re.compile(
    r"\(?\s*(?:exact\s+)?name\s+of\s+(?:the\s+)?(?:registrant|issuer)\s+as\s+specified\s+in\s+(?:its|the)\s",
    re.I,
)
_FORM = re.compile(r"\s*(form\s+(?:10-?[KQ]T?|[86]-?K|20-?F|40-?F)(?:/A)?)\s*", re.I)
_PERIOD = re.compile(
    r"\b(?:(?:period|quarter|year)\s+ended|earliest event reported\)?)\W*(\w.*\b(?:19|20)\d\d)\b", re.I
)
"""The end of the period of a filing. Covers have company, form and period by law (17 CFR 249)."""


def is_given(title: str) -> bool:
    """Return whether a person wrote a title: it names no program or file and is no number of a form."""
    return bool(title) and not _JUNK.search(title)


def title_of(stated: str, blocks: Sequence[Block], name: str) -> str:
    """Return the title of a document with pages, or "".

    `stated` is the title in its metadata, `name` the name of its file. The largest heading of the first page
    is the title if the metadata have no title that the document confirms.
    """
    top = _largest_heading(blocks, bool(stated))
    own = words(stated)
    if _JUNK.search(stated) or not own:
        return top
    if not top:
        return stated.strip()
    known = set(words(name.replace("_", " ")))
    for block in blocks:
        if block.page <= _PAGES:
            known.update(words(block.text))
    confirmed = [word for word in own if word in known]
    return stated.strip() if len(confirmed) >= _SAID * len(own) else top


def _largest_heading(blocks: Sequence[Block], any_level: bool) -> str:
    """Return the largest heading of the first page, of level 1 unless `any_level`, or ""."""
    headings = [block for block in blocks if block.kind == "heading" and block.page == 1]
    largest = min(headings, key=lambda block: block.level, default=None)
    if largest is None or (largest.level > 1 and not any_level):
        return ""
    return largest.text


def filed_under(blocks: Sequence[Block]) -> str:
    """Return the company, form and period on the cover of a filing; "" for anything else."""
    lines: list[str] = []
    form = ""
    for line in _lines(blocks):
        plain = " ".join(line[:_LINE].split())
        lines.append(plain)
        is_form = _FORM.fullmatch(plain)
        if is_form and not form:
            form = is_form[1]
    cover = "\n".join(lines)
    named, dated = _REGISTRANT.search(cover), _PERIOD.search(cover)
    name = cover[: named.start()].rstrip().rpartition("\n")[2] if named else ""
    if not name or not form:
        return ""
    return f"{name} {form}, {dated[1]}" if dated else f"{name} {form}"


def told_apart(documents: Sequence[tuple[str, str]]) -> list[str]:
    """Return the titles of (title, path) pairs; the same title gets the name of its file."""
    counts = Counter(title for title, _ in documents)
    found: list[str] = []
    for title, path in documents:
        name = PurePath(path).name
        if counts[title] > 1 and name and name != title:
            title = f"{title} ({name})"
        found.append(title)
    return found


def _lines(blocks: Sequence[Block]) -> Iterator[str]:
    """Yield the printed lines of a cover: a heading may have several."""
    count = 0
    for block in blocks:
        parts = [block.text[span.start : span.end] for span in block.spans] or block.text.split("\n")
        for line in parts:
            if count == _COVER:
                return
            if line.strip():
                count += 1
                yield line.strip()
