"""What a person would call a document: its metadata, the large lines of its first page, and its file's name together.

A cover says many things in large type. What names the document is said again: at the edges and in the heads of its
other pages, or in the name of its file. What every document of its kind begins with is not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

from ragweave.corpora.blocks import Block

_JUNK = re.compile(
    r"microsoft (?:word|powerpoint)|untitled|\.(?:docx?|tex|dvi|indd|pptx?|xlsx?|qxd|pdf|rtf|od[tps])\b|"
    r"\A[^\W\d_]{0,4}[\d_.-]*\d[\w.-]*\Z",
    re.I,
)
"""Titles that a program gave: its own name, that of a file, or a number under which it was filed."""
_LONGEST = 100
"""Characters of a line that may name a document."""
_AGAIN = 2
"""Other pages that say a name again."""
_MOST = 40
"""Lines of a first page that are looked at."""
_PARTS = 2
"""Lines that are joined, such as a company and the name of its report."""
_NUMBER = re.compile(r"\b\d")
_WORD = re.compile(r"[^\W_]+")


def title_of(stated: str, blocks: Sequence[Block], running: Iterable[tuple[int, str]], name: str) -> str:
    """Return the title of a document with pages, or "".

    `stated` is what its metadata say, `running` are the lines at the edges of its pages, each with its page, and `name`
    is that of its file.
    """
    stated = "" if _JUNK.search(stated) else stated.strip()
    headings = [b for b in blocks if b.kind == "heading" and b.page == 1]
    # Headings are ranked by size: the largest of the first page, if it stands alone on top, is the title.
    top = headings[0].text if headings and (headings[0].level == 1 or stated) else ""
    lines = list(dict.fromkeys(_lines(headings)))[:_MOST]
    again = _again(lines, top, blocks, running, name)
    named = _folded(stated or top) in map(_folded, again) and not _is_numbered(stated or top)
    if named or not again:
        return stated or top
    best = sorted(again, key=lambda line: -again[line])[:_PARTS]
    if stated and (len(best) < _PARTS or any(_folded(line) in _folded(stated) for line in best)):
        return stated
    if len(best) < _PARTS:
        level = min(b.level for b in headings if best[0] in b.text)
        best += [b.text for b in headings if b.level <= level and _is_numbered(b.text) and b.text in lines][:1]
    # A name comes before the number of a form.
    return " ".join(sorted(sorted(best, key=lines.index), key=_is_numbered))


def told_apart(documents: Sequence[tuple[str, str]]) -> list[str]:
    """Return the titles of documents, given with their paths, those of the same title with the names of their files."""
    counts = Counter(title for title, _ in documents)
    names = ((title, PurePath(path).name) for title, path in documents)
    return [f"{title} ({name})" if counts[title] > 1 and name and name != title else title for title, name in names]


def _lines(headings: Sequence[Block]) -> Iterator[str]:
    """Yield headings, and the lines of those that have several: lines of one size make one heading."""
    for block in headings:
        yield from (t for t in (block.text, *(block.text[s.start : s.end] for s in block.spans)) if len(t) <= _LONGEST)


def _is_numbered(text: str) -> bool:
    return bool(_NUMBER.search(text))


def _folded(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _again(
    lines: Sequence[str], top: str, blocks: Sequence[Block], running: Iterable[tuple[int, str]], name: str
) -> dict[str, int]:
    """Return the lines that other pages or the file's name say again, with how many; parts of others are left out."""
    heads = {(b.page, _folded(b.text)) for b in blocks if b.page > 1 and b.kind == "heading"}
    heads |= {(page, _folded(text)) for page, text in running if page > 1}
    texts = heads | {(b.page, _folded(b.text)) for b in blocks if b.page > 1 and b.kind != "table"}
    stem = _WORD.findall(PurePath(name).stem.replace("_", " ").casefold())
    called = {w for w in stem if len(w) > 2 and not w.isdecimal()}
    counts: dict[str, int] = {}
    for line in lines:
        folded = _folded(line)
        words = folded.split()
        # Words are said again by chance in running text, as the names of authors are; the number of a form is not.
        pages = len({page for page, text in (texts if _is_numbered(line) else heads) if folded in text})
        named = len(called & {*words, "".join(words), "".join(words[-2:])})
        # One word is said again by chance, unless it is the largest of all.
        if (len(words) > 1 or line == top) and (pages >= _AGAIN or named):
            counts[line] = pages + named
    parts = {a for a in counts for b in counts if a not in (b, top) and _folded(a) in _folded(b)}
    return {line: n for line, n in counts.items() if line not in parts}
