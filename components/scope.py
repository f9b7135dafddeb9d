"""Which sources, recordings and seconds a search stays within."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from ragweave.corpora.store.library import Kind, Library
from ragweave.corpora.store.rows import RecordingRow, Source
from ragweave.corpora.types import Corpus, Item, Lists, Locator
from ragweave.corpora.video.places import named_in, window_of
from ragweave.models.text import fold

_LISTED = 5
_WIDE = 1_000
"""Hits of a list from which those within titles or a time range are taken: the stores select by source alone."""


@dataclass(frozen=True)
class Scope:
    """What a search stays within: sources, titles of recordings (a source may hold several), seconds; empty is all."""

    sources: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    start: float | None = None
    end: float | None = None

    @property
    def whole(self) -> bool:
        """Whether no title and no time narrows the recordings."""
        return not self.titles and self.start is None and self.end is None

    @property
    def names_moment(self) -> bool:
        """Whether it is a stretch of time in recordings that were named: a bare “12:30” may be a time of day."""
        return bool(self.titles) and (self.start is not None or self.end is not None)

    def in_time(self, locator: Locator) -> bool:
        """Tell whether a place overlaps the time range; what has no time is outside of any."""
        if self.start is None and self.end is None:
            return True
        start, end = locator.get("start"), locator.get("end")
        if start is None or end is None:
            return False
        return end > (self.start or 0.0) and (self.end is None or start < self.end)

    def holds(self, item: Item) -> bool:
        """Tell whether a clip lies within the recordings, and its words or frames within the time range."""
        if self.titles and item.title not in self.titles:
            return False
        if not self.in_time(item.locator):
            return False
        return "image" in item.locator or self.in_time(item.place)


async def scope_of(
    library: Library, sources: Sequence[str], collection: str
) -> tuple[Scope | None, list[str]]:
    """Return what a run may search, None where nothing of that is in the library, and what could not be found.

    Sources are named by file, title or id; the collection is a folder; empty means all.
    """
    if not sources and not collection:
        return Scope(), []
    held = [s for s in await library.sources() if s.status != "failed"]
    kept = held
    notes: list[str] = []
    if collection:
        folder = _folder(collection)
        kept = [s for s in kept if any(PurePath(p).is_relative_to(folder) for p in s.paths)]
        if not kept:
            notes.append(f"Nothing in this library lies in {folder}.")
    if not sources:
        return (Scope(tuple(s.id for s in kept)) if kept else None), notes
    known = {s.id for s in kept}
    recordings = [r for r in await library.recordings() if r.source in known]
    found: dict[str, None] = {}
    titles: dict[str, None] = {}
    for name in sources:
        files = {name} if name in known else {s.id for s in kept if is_named(s, name)}
        inside = [r for r in recordings if fold(r.title) == fold(name.strip())]
        found.update(dict.fromkeys([*files, *(r.source for r in inside)]))
        titles.update(
            dict.fromkeys([*(r.title for r in recordings if r.source in files), *(r.title for r in inside)])
        )
        if not files and not inside:
            notes.append(f"There is no source “{name}” in this library{_instead(kept, recordings)}.")
    return (Scope(tuple(found), tuple(titles)) if found else None), notes


async def named_scope(library: Library, query: str, scope: Scope) -> Scope:
    """Narrow a scope to the recordings whose titles stand in the query; else return it as it is."""
    recordings = [r for r in await library.recordings() if not scope.sources or r.source in scope.sources]
    if scope.titles or len(recordings) < 2:
        return scope
    titles = named_in(query, [r.title for r in recordings])
    sources = tuple(dict.fromkeys(r.source for r in recordings if r.title in titles))
    return replace(scope, sources=sources, titles=tuple(titles)) if titles else scope


def is_named(source: Source, name: str) -> bool:
    """Tell whether a name means a source: its id or the first letters of it, file name, title, or a path's end."""
    wanted = fold(name.strip())
    if not wanted:
        return False
    names = {fold(source.title)}
    for path in source.paths or (source.path,):
        names |= {fold(PurePath(path).name), fold(PurePath(path).stem), fold(path)}
    return (
        wanted in names
        or (len(wanted) >= 6 and source.id.startswith(wanted))
        or any(name.endswith(f"/{wanted}") for name in names)
    )


def _folder(collection: str) -> Path:
    return Path(os.path.abspath(os.path.expanduser(collection)))


def _instead(held: Sequence[Source], recordings: Sequence[RecordingRow]) -> str:
    """Name the sources that there are: by their file, or by their titles where one file holds several."""
    several = Counter(r.source for r in recordings)
    names = {PurePath(s.path).name for s in held if s.path and several[s.id] < 2}
    names |= {r.title for r in recordings if several[r.source] > 1}
    listed = sorted(names)
    if not listed:
        return ", which holds none"
    more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
    return f"; it holds {', '.join(listed[:_LISTED])}{more}"


async def search_within(
    library: Library,
    corpus: Corpus,
    queries: Sequence[str],
    scope: Scope,
    length: int,
    only: Kind | None = None,
) -> list[Lists]:
    """Return the lists of each query, or `only` one, within a scope; its titles and times narrow recordings alone."""
    if corpus not in ("clip", "video") or scope.whole:
        return await library.search(corpus, queries, length, scope.sources, only)
    found = await library.search(corpus, queries, max(_WIDE, length), scope.sources, only)
    items = await library.items(_ids(found))
    kept = {i for i, item in items.items() if scope.holds(item)}
    return [_only(lists, kept, length) for lists in found]


async def at_moment(library: Library, question: str, scope: Scope) -> Scope:
    """Narrow a scope to the stretch of time that a question writes as clock times; as it is where no clip lies there.

    “12:30” may be a time of day: it narrows what is searched, and never leaves nothing.
    """
    window = window_of(question)
    if window is None or scope.start is not None or scope.end is not None:
        return scope
    narrowed = replace(scope, start=window[0], end=window[1])
    return narrowed if await clips_within(library, narrowed) else scope


async def clips_within(library: Library, scope: Scope) -> list[str]:
    """Return the clips of a scope, recording by recording in the order of time."""
    recorded = dict.fromkeys(r.source for r in await library.recordings())
    sources = [s for s in recorded if not scope.sources or s in scope.sources]
    return [i.id for s in sources for i in await library.items_of(s, "clip") if scope.holds(i)]


def _ids(found: Iterable[Lists]) -> list[str]:
    return list(dict.fromkeys(h.id for x in found for hits in (x.dense, x.lexical, x.visual) for h in hits))


def _only(lists: Lists, kept: Collection[str], k: int) -> Lists:
    dense, lexical, visual = (
        tuple(h for h in hits if h.id in kept)[:k] for hits in (lists.dense, lists.lexical, lists.visual)
    )
    return replace(lists, dense=dense, lexical=lexical, visual=visual)
