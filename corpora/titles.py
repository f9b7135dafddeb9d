"""What a person would call a document, by its first page, its metadata and the name of its file together."""

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
"""Titles that a program gave: its own name, that of a file, or a number under which it was filed."""
_SAID = 0.5
"""Least share of the words of a title in the metadata that the first pages or the file's name say as well."""
_PAGES = 2
"""First pages on which a document says what it is called."""
_COVER = 60
"""Lines of the cover of a filing."""
_LINE = 400
"""Characters of a line of the cover that are read."""
_REGISTRANT = re.compile(
    r"\(?\s*(?:exact\s+)?name\s+of\s+(?:the\s+)?(?:registrant|issuer)\s+as\s+specified\s+in\s+(?:its|the)\s",
    re.I,
)
_FORM = re.compile(r"\s*(form\s+(?:10-?[KQ]T?|[86]-?K|20-?F|40-?F)(?:/A)?)\s*", re.I)
_PERIOD = re.compile(
    r"\b(?:(?:period|quarter|year)\s+ended|earliest event reported\)?)\W*(\w.*\b(?:19|20)\d\d)\b", re.I
)
"""What the United States ask the cover of a filing to say (17 CFR 249): whose it is, its form, and of when it is."""


def is_given(title: str) -> bool:
    """Tell whether a person gave a title: it is no name of a program or file, and no number of a form."""
    return bool(title) and not _JUNK.search(title)


def title_of(stated: str, blocks: Sequence[Block], name: str) -> str:
    """Return the title of a document with pages, or "".

    `stated` is what its metadata say, `name` that of its file. Headings are ranked by size: the largest of
    the first page is the title where the metadata have none that the document bears out.
    """
    headings = (b for b in blocks if b.kind == "heading" and b.page == 1)
    largest = min(headings, key=lambda b: b.level, default=None)
    top = largest.text if largest and (stated or largest.level == 1) else ""
    said = {
        w
        for text in (name.replace("_", " "), *(b.text for b in blocks if b.page <= _PAGES))
        for w in words(text)
    }
    own = words(stated)
    borne_out = not top or sum(w in said for w in own) >= _SAID * len(own)
    return top if _JUNK.search(stated) or not own or not borne_out else stated.strip()


def filed_under(blocks: Sequence[Block]) -> str:
    """Return whose report a filing is, its form and its period, as its cover says them; "" for anything else."""
    lines = [line for each in _lines(blocks) if (line := " ".join(each[:_LINE].split()))]
    cover = "\n".join(lines)
    named, dated = _REGISTRANT.search(cover), _PERIOD.search(cover)
    name = cover[: named.start()].rstrip().rpartition("\n")[2] if named else ""
    form = next((m[1] for line in lines if (m := _FORM.fullmatch(line))), "")
    period = dated[1] if dated else ""
    return ", ".join(filter(None, (f"{name} {form}", period))) if name and form else ""


def told_apart(documents: Sequence[tuple[str, str]]) -> list[str]:
    """Return the titles of documents, given with their paths, those of the same title with the names of their files."""
    counts = Counter(title for title, _ in documents)
    names = ((title, PurePath(path).name) for title, path in documents)
    return [
        f"{title} ({name})" if counts[title] > 1 and name and name != title else title
        for title, name in names
    ]


def _lines(blocks: Sequence[Block]) -> Iterator[str]:
    """Yield the lines of a cover as they are set: lines of one size make one heading."""
    count = 0
    for block in blocks:
        parts = [block.text[s.start : s.end] for s in block.spans] or block.text.split("\n")
        for line in parts:
            if count == _COVER:
                return
            if line.strip():
                count += 1
                yield line.strip()
