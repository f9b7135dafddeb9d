"""Lay out a turn as rounds: the query of each, and the documents that are new in it."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field

from ragweave.components.bearing import LEFT_OUT
from ragweave.components.evidence import Evidence, Hop, Strip
from ragweave.components.knowledge import Knowledge
from ragweave.components.passages import headed, is_nested, untitled
from ragweave.components.tables import TablePart

_IN_ANOTHER = "[… part of a document that is read whole]"
"""Replaces a passage whose whole document is shown."""


@dataclass(frozen=True)
class Round:
    """One round of the conversation.

    Attributes:
        query: query of the round.
        learnt: what the model had learnt before the query, in its words.
        missing: what was missing, in its words.
        documents: (number, title, text) of the results.
        recalled: whether the documents are the model's own words.
        also: further queries of the same turn.
        shown: ids of the documents.
        files: file of each document; "" if no other document can contain its text.
        weak: whether the grade calls all of them irrelevant.
        grown: numbers of earlier documents that it found again and that are now whole in their place.
        more: numbers of others that it found again and of which their place now shows more.
        left: (number, title) of documents that are not sent again.
        rewrites: other words for the query that were searched.
        tables: tables of which a document shows a part, by its number.
    """

    query: str
    learnt: str
    missing: str
    documents: tuple[tuple[int, str, str], ...]
    recalled: bool = False
    also: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    weak: bool = False
    grown: tuple[int, ...] = ()
    more: tuple[int, ...] = ()
    left: tuple[tuple[int, str], ...] = ()
    rewrites: tuple[str, ...] = ()
    tables: dict[int, Sequence[TablePart]] = field(default_factory=dict)


def rounds(known: Knowledge, most: int) -> list[Round]:
    """Lay out the turn so far: the query of each round, and the best `most` documents new in it."""
    texts: dict[str, list[Strip]] = {}
    for s in known.strips:
        texts.setdefault(s["evidence"], []).append(s)
    rows = {e["id"]: e for e in known.rows}
    out: list[Round] = []
    earlier: list[str] = []
    learnt, missing = known.plan or ("", "")
    for hop, fresh in zip(known.hops, shown(known.hops, texts, most), strict=True):
        documents: list[tuple[int, str, str]] = []
        files: list[str] = []
        tables: dict[int, Sequence[TablePart]] = {}
        for number, id in enumerate(fresh, len(earlier) + 1):
            documents.append((number, *titled(texts.get(id, ()), rows.get(id))))
            files.append(_outer_file(rows.get(id)))
            if id in known.tables:
                tables[number] = known.tables[id]
        grown, more = _found_again(hop, earlier, rows, texts)
        nothing_new = not fresh or hop.get("action") == "incorrect"
        out.append(
            Round(
                hop["query"],
                learnt,
                missing,
                tuple(documents),
                _from_memory(fresh, texts),
                tuple(hop.get("also", ())),
                tuple(fresh),
                tuple(files),
                nothing_new and not grown and not more,
                tuple(grown),
                tuple(more),
                rewrites=tuple(hop.get("rewrites", ())),
                tables=tables,
            )
        )
        earlier += fresh
        learnt, missing = hop["learnt"], hop["missing"]
    return out


def _found_again(
    hop: Hop, earlier: Sequence[str], rows: Mapping[str, Evidence], texts: Mapping[str, Sequence[Strip]]
) -> tuple[list[int], list[int]]:
    """Return the numbers of earlier documents that a round found again: those now whole, and the others."""
    grown: list[int] = []
    more: list[int] = []
    if hop["corpora"] == ["table"]:  # the result of a statement belongs to the round of its documents
        return grown, more
    for number, id in enumerate(earlier, 1):
        if id in rows and rows[id]["hop"] == hop["n"]:
            (grown if _is_whole(texts.get(id, ())) else more).append(number)
    return grown, more


def _is_whole(strips: Sequence[Strip]) -> bool:
    for strip in strips:
        if strip.get("whole"):
            return True
    return False


def _from_memory(ids: Sequence[str], texts: Mapping[str, Sequence[Strip]]) -> bool:
    """Return whether a model wrote all documents of a round from memory."""
    for id in ids:
        if id not in texts or texts[id][0]["origin"] != "model":
            return False
    return bool(ids)


def _outer_file(row: Evidence | None) -> str:
    """Return the file of a row if another row of the file may contain its text, else ""."""
    return row["locator"].get("file", "") if row is not None and is_nested(row) else ""


def titled(strips: Sequence[Strip], row: Evidence | None) -> tuple[str, str]:
    """Return title and text of a document; a note if another document contains it by now."""
    if not strips:
        return headed(row["title"] if row else "", row), _IN_ANOTHER
    return headed(strips[0]["title"], row), LEFT_OUT.join(map(untitled, strips))


def shown(hops: Sequence[Hop], kept: Container[str], most: int) -> list[list[str]]:
    """Return for each round the ids of its best `most` kept documents that no earlier round showed.

    A round that has recorded what it showed returns that.
    """
    out: list[list[str]] = []
    seen: set[str] = set()
    for hop in hops:
        recorded = hop.get("shown")
        if recorded is None:
            ids = _new_ids(hop, kept, seen)[:most]
        else:
            ids = list(recorded)
        out.append(ids)
        seen.update(ids)
    return out


def _new_ids(hop: Hop, kept: Container[str], seen: Container[str]) -> list[str]:
    """Return the kept ids of a round that were not shown before."""
    new: list[str] = []
    for id in hop["evidence"]:
        if id in kept and id not in seen:
            new.append(id)
    return new


def with_shown(known: Knowledge, most: int) -> list[Hop]:
    """Return the rounds with the ids that each showed, so that documents keep their numbers later."""
    kept = {s["evidence"] for s in known.strips}
    hops: list[Hop] = []
    for hop, ids in zip(known.hops, shown(known.hops, kept, most), strict=True):
        hops.append(Hop(**{**hop, "shown": ids}))
    return hops
