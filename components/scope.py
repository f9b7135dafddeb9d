"""Limit a search to sources, recordings and a time range."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from ragweave.corpora.store.library import Kind, Library
from ragweave.corpora.store.rows import RecordingRow, Source
from ragweave.corpora.types import Corpus, Hit, Item, Lists, Locator
from ragweave.corpora.video.places import named_in, window_of
from ragweave.models.text import fold

_LISTED = 5
_WIDE = 1_000
"""Hits of a list before titles and times are applied: the stores can only select by source."""


@dataclass(frozen=True)
class Scope:
    """The limits of a search; an empty one allows everything.

    Attributes:
        sources: ids of sources.
        titles: titles of recordings; a source may hold several.
        start: first second of recordings.
        end: last second of recordings.
    """

    sources: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    start: float | None = None
    end: float | None = None

    @property
    def whole(self) -> bool:
        """Whether neither titles nor times limit the recordings."""
        return not self.titles and self.start is None and self.end is None

    @property
    def names_moment(self) -> bool:
        """Whether it is a time range in named recordings: a bare “12:30” may be a time of day."""
        return bool(self.titles) and (self.start is not None or self.end is not None)

    def in_time(self, locator: Locator) -> bool:
        """Return whether a place overlaps the time range; a place without times lies outside of any."""
        if self.start is None and self.end is None:
            return True
        start, end = locator.get("start"), locator.get("end")
        if start is None or end is None:
            return False
        return end > (self.start or 0.0) and (self.end is None or start < self.end)

    def holds(self, item: Item) -> bool:
        """Return whether a clip is of the recordings and its words or frames overlap the time range."""
        if self.titles and item.title not in self.titles:
            return False
        if not self.in_time(item.locator):
            return False
        return "image" in item.locator or self.in_time(item.place)


async def scope_of(
    library: Library, sources: Sequence[str], collection: str
) -> tuple[Scope | None, list[str]]:
    """Return the scope of a run, and notes about names that were not found.

    Args:
        library: library to search.
        sources: files, titles or ids; empty: all.
        collection: a folder; empty: all.

    Returns:
        The scope, None if the library holds nothing of it; and the notes.
    """
    if not sources and not collection:
        return Scope(), []
    notes: list[str] = []
    folder = _folder(collection) if collection else None
    kept: list[Source] = []
    ids: list[str] = []
    for source in await library.sources():
        if source.status != "failed" and (folder is None or _is_in_folder(source, folder)):
            kept.append(source)
            ids.append(source.id)
    if folder is not None and not kept:
        notes.append(f"Nothing in this library lies in {folder}.")
    if not sources:
        return (Scope(tuple(ids)) if ids else None), notes
    recordings = _of_sources(await library.recordings(), ids)
    scope, missing = _named_in(kept, recordings, sources)
    return scope, notes + missing


def _of_sources(recordings: Iterable[RecordingRow], sources: Collection[str]) -> list[RecordingRow]:
    return [r for r in recordings if r.source in sources]


def _named_in(
    kept: Sequence[Source], recordings: Sequence[RecordingRow], names: Sequence[str]
) -> tuple[Scope | None, list[str]]:
    """Return the scope of the sources and recordings that names mean, and notes about unknown names."""
    notes: list[str] = []
    found: dict[str, None] = {}
    titles: dict[str, None] = {}
    for name in names:
        files = _files_named(kept, name)
        by_file, by_title = _recordings_named(recordings, files, name)
        if not files and not by_title:
            notes.append(f"There is no source “{name}” in this library{_instead(kept, recordings)}.")
        found.update(dict.fromkeys(files))
        for recording in by_title:
            found[recording.source] = None
        for recording in by_file + by_title:
            titles[recording.title] = None
    return (Scope(tuple(found), tuple(titles)) if found else None), notes


def _recordings_named(
    recordings: Sequence[RecordingRow], files: Collection[str], name: str
) -> tuple[list[RecordingRow], list[RecordingRow]]:
    """Return the recordings of files, and those whose title is a name."""
    by_title: list[RecordingRow] = []
    wanted = fold(name.strip())
    for recording in recordings:
        if fold(recording.title) == wanted:
            by_title.append(recording)
    return _of_sources(recordings, files), by_title


def _is_in_folder(source: Source, folder: Path) -> bool:
    for path in source.paths:
        if PurePath(path).is_relative_to(folder):
            return True
    return False


def _files_named(sources: Sequence[Source], name: str) -> set[str]:
    """Return the id that equals a name, or the ids of all sources that it means."""
    found: set[str] = set()
    for source in sources:
        if source.id == name:
            return {name}
        if is_named(source, name):
            found.add(source.id)
    return found


async def named_scope(library: Library, query: str, scope: Scope) -> Scope:
    """Narrow a scope to the recordings whose titles the query contains; unchanged if it contains none."""
    recordings = await library.recordings()
    if scope.sources:
        recordings = _of_sources(recordings, scope.sources)
    if scope.titles or len(recordings) < 2:
        return scope
    titles = named_in(query, [r.title for r in recordings])
    if not titles:
        return scope
    sources: dict[str, None] = {}
    for recording in recordings:
        if recording.title in titles:
            sources[recording.source] = None
    return replace(scope, sources=tuple(sources), titles=tuple(titles))


def is_named(source: Source, name: str) -> bool:
    """Return whether a name means a source: title, file name, end of a path, or beginning of its id."""
    wanted = fold(name.strip())
    if not wanted:
        return False
    if len(wanted) >= 6 and source.id.startswith(wanted):
        return True
    names = [fold(source.title)]
    for path in source.paths or (source.path,):
        names += [fold(PurePath(path).name), fold(PurePath(path).stem), fold(path)]
    for known in names:
        if known == wanted or known.endswith(f"/{wanted}"):
            return True
    return False


def _folder(collection: str) -> Path:
    return Path(os.path.abspath(os.path.expanduser(collection)))


def _instead(held: Sequence[Source], recordings: Sequence[RecordingRow]) -> str:
    """Name the sources of a library: by file, or by the titles of its recordings if a file holds several."""
    per_source = Counter(r.source for r in recordings)
    names: set[str] = set()
    for source in held:
        if source.path and per_source[source.id] < 2:
            names.add(PurePath(source.path).name)
    for recording in recordings:
        if per_source[recording.source] > 1:
            names.add(recording.title)
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
    """Return the ranked lists of each query within a scope, of all kinds or `only` one.

    Titles and times of the scope limit recordings alone.
    """
    if corpus not in ("clip", "video") or scope.whole:
        return await library.search(corpus, queries, length, scope.sources, only)
    found = await library.search(corpus, queries, max(_WIDE, length), scope.sources, only)
    items = await library.items(_ids(found))
    kept: set[str] = set()
    for id, item in items.items():
        if scope.holds(item):
            kept.add(id)
    return [_only(lists, kept, length) for lists in found]


async def at_moment(library: Library, question: str, scope: Scope) -> Scope:
    """Narrow a scope to the time range of the clock times in a question; unchanged if no clip lies in it.

    “12:30” may be a time of day, so it must never empty the scope.
    """
    window = window_of(question)
    if window is None or scope.start is not None or scope.end is not None:
        return scope
    narrowed = replace(scope, start=window[0], end=window[1])
    return narrowed if await clips_within(library, narrowed) else scope


async def clips_within(library: Library, scope: Scope) -> list[str]:
    """Return the ids of the clips of a scope, recording by recording in the order of time."""
    sources: dict[str, None] = {}
    for recording in await library.recordings():
        if not scope.sources or recording.source in scope.sources:
            sources[recording.source] = None
    clips: list[str] = []
    for source in sources:
        for item in await library.items_of(source, "clip"):
            if scope.holds(item):
                clips.append(item.id)
    return clips


def _ids(found: Iterable[Lists]) -> list[str]:
    """Return the ids of all hits, each once."""
    ids: dict[str, None] = {}
    for lists in found:
        for hits in (lists.dense, lists.lexical, lists.visual):
            for hit in hits:
                ids[hit.id] = None
    return list(ids)


def _only(lists: Lists, kept: Collection[str], length: int) -> Lists:
    """Return the first `length` kept hits of each list."""

    def cut(hits: Sequence[Hit]) -> tuple[Hit, ...]:
        found: list[Hit] = []
        for hit in hits:
            if hit.id in kept:
                found.append(hit)
        return tuple(found[:length])

    return replace(lists, dense=cut(lists.dense), lexical=cut(lists.lexical), visual=cut(lists.visual))
