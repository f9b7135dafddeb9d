"""Which sources and seconds a run stays within: by recording, by folder, by time."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from ragweave.corpora.store.library import Library
from ragweave.corpora.store.recordings import Recording
from ragweave.corpora.store.rows import Source
from ragweave.corpora.types import Corpus, Item, Lists, Locator
from ragweave.minds.context import Context
from ragweave.minds.small.places import named_in
from ragweave.minds.small.windows import stretch, window_of
from ragweave.models.text import fold
from ragweave.nodes.run import Run

_LISTED = 5
_WIDE = 1_000
"""Hits of a list from which those within titles or a time range are taken: the stores select by source alone."""


@dataclass(frozen=True)
class Scope:
    """What a run stays within; empty means all.

    Attributes:
        sources: ids of sources.
        titles: titles of recordings; one source may hold several.
    """

    sources: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()


async def scope_of(run: Run) -> Scope | None:
    """Return what the context allows, or None where nothing of that is in the library, which is noted."""
    context = run.context
    if not context.videos and not context.collection:
        return Scope(tuple(context.sources))
    library = await run.library()
    held = [s for s in await library.sources() if s.status != "failed"]
    kept = [s for s in held if not context.sources or s.id in context.sources]
    if context.collection:
        folder = _folder(context.collection)
        kept = [s for s in kept if any(PurePath(p).is_relative_to(folder) for p in s.paths)]
        if not kept:
            run.note(f"Nothing in this library lies in {folder}.")
    if not context.videos:
        return Scope(tuple(s.id for s in kept)) if kept else None
    recordings = await library.recordings()
    sources: dict[str, None] = {}
    titles: dict[str, None] = {}
    for name in context.videos:
        files = [s.id for s in kept if is_named(s, name)]
        inside = [r for r in recordings if fold(r.title) == fold(name.strip()) and r.source in {s.id for s in kept}]
        sources.update(dict.fromkeys([*files, *(r.source for r in inside)]))
        titles.update(dict.fromkeys([*(r.title for r in recordings if r.source in files), *(r.title for r in inside)]))
        if not files and not inside:
            run.note(f"There is no recording “{name}” in this library{_instead(held, recordings)}.")
    return Scope(tuple(sources), tuple(titles)) if sources else None


async def named_scope(run: Run, query: str, scope: Scope) -> Scope:
    """Narrow a scope to the recordings that the query itself names as the place to look; else return it as it is."""
    recordings = [r for r in await (await run.library()).recordings() if not scope.sources or r.source in scope.sources]
    if scope.titles or len(recordings) < 2:
        return scope
    titles = named_in(query, (r.title for r in recordings))
    sources = tuple(dict.fromkeys(r.source for r in recordings if r.title in titles))
    return Scope(sources, tuple(titles)) if titles else scope


def is_named(source: Source, name: str) -> bool:
    """Tell whether a name means a source: its id or the first letters of it, file name, title, or a path's end."""
    wanted = fold(name.strip())
    if not wanted:
        return False
    if len(wanted) >= 6 and source.id.startswith(wanted):
        return True
    for path in source.paths or (source.path,):
        pure = PurePath(path)
        if wanted in (fold(pure.name), fold(pure.stem), fold(path)) or fold(path).endswith("/" + wanted):
            return True
    return wanted == fold(source.title)


def _folder(collection: str) -> Path:
    return Path(os.path.abspath(os.path.expanduser(collection)))


def _instead(held: Sequence[Source], recordings: Sequence[Recording]) -> str:
    named = {s.id: PurePath(s.path).name for s in held if s.path}
    several = [r.source for r in recordings]
    names = sorted({r.title if several.count(r.source) > 1 else named.get(r.source, r.title) for r in recordings})
    if not names:
        return ", which holds no recordings"
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"; it holds {', '.join(names[:_LISTED])}{more}"


def within(item: Item, titles: Sequence[str], context: Context) -> bool:
    """Tell whether a clip belongs to one of the recordings, any where none is named, and to the run's time range."""
    return (not titles or item.title in titles) and in_time(item.locator, context)


def in_time(locator: Locator, context: Context) -> bool:
    """Tell whether a place in a recording overlaps the run's time range; what has no time is outside of any."""
    if context.from_time is None and context.to_time is None:
        return True
    start, end = locator.get("start"), locator.get("end")
    if start is None or end is None:
        return False
    begins = context.from_time if context.from_time is not None else 0.0
    return end > begins and (context.to_time is None or start < context.to_time)


async def search_within(
    library: Library,
    corpus: Corpus,
    queries: Sequence[str],
    sources: Sequence[str],
    titles: Sequence[str],
    context: Context,
) -> list[Lists]:
    """Return the lists of each query within sources, recordings and the run's time range.

    Args:
        library: where to search.
        corpus: corpus to search; titles and times narrow recordings alone.
        queries: phrasings.
        sources: source ids to stay within; empty means all.
        titles: recordings to stay within; empty means all.
        context: gives the time range and the length of a list.
    """
    timed = context.from_time is not None or context.to_time is not None
    if corpus not in ("clip", "video") or not (titles or timed):
        return await library.search(corpus, queries, context.pool, sources)
    found = await library.search(corpus, queries, max(_WIDE, context.pool), sources)
    items = await library.items(list(dict.fromkeys(_ids(found))))
    kept = {i for i, item in items.items() if within(item, titles, context)}
    return [_only(lists, kept, context.pool) for lists in found]


async def in_window(library: Library, question: str, found: Sequence[Lists]) -> list[Lists]:
    """Keep the clips in the stretch of time that a question names; all of them where none lies there.

    “At 12:30” may be a time of day: it narrows what was found, and never leaves nothing.
    """
    window = window_of(question)
    if window is None:
        return list(found)
    items = await library.items(list(dict.fromkeys(_ids(found))))
    lasts = {(r.source, r.title): r.end for r in await library.recordings()}
    kept = {i for i, item in items.items() if _overlaps(item, window, lasts.get((item.source, item.title), 0.0))}
    return [_only(lists, kept, len(kept)) for lists in found] if kept else list(found)


def _overlaps(item: Item, window: tuple[float, float], last: float) -> bool:
    start, end = stretch(window, last)
    return item.locator.get("end", 0.0) > start and item.locator.get("start", 0.0) < end


def _ids(found: Sequence[Lists]) -> list[str]:
    return [h.id for lists in found for hits in (lists.dense, lists.lexical, lists.visual) for h in hits]


def _only(lists: Lists, kept: Collection[str], k: int) -> Lists:
    dense, lexical, visual = (
        tuple(h for h in hits if h.id in kept)[:k] for hits in (lists.dense, lists.lexical, lists.visual)
    )
    return replace(lists, dense=dense, lexical=lexical, visual=visual)
