"""Show documents to a chat model whole, up to the budget of its prompt (UniversalRAG, section 3.2).

A row of the state carries a window of a document. A wanted document is read from the store instead: the best
first, with the largest share of the budget. One that does not fit ends with the headings it leaves out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ragweave.components.bearing import bearing
from ragweave.components.evidence import TEXT_LIMIT, Evidence, Strip
from ragweave.components.run_context import RunContext, chosen
from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Corpus, Item

CHARS_A_TOKEN = 3
"""Characters that a token counts as, on the safe side."""
_REQUEST = 1_000
"""Tokens of a small prompt that are reserved for the request itself."""
_LEAST = 500
"""Tokens that documents get at least."""
LONGEST = 12_000
"""Characters of one document in a prompt, headings included; a longer one is cut to fit the question."""
_OUTLINE = 1_000
"""Characters of the headings that a document leaves out."""


@dataclass(frozen=True)
class _Shown:
    """A document in the prompt.

    Attributes:
        round: index of the round that found it first.
        file: its file.
        text: its text on one line.
    """

    round: int
    file: str | None
    text: str


async def read_whole(
    run: RunContext,
    strips: Sequence[Strip],
    rows: Mapping[str, Evidence],
    ranked: Sequence[Sequence[str]],
    wanted: Collection[str],
    question: str,
) -> list[Strip]:
    """Return strips with the text of the wanted documents in place of their windows.

    Chosen strips of a document stay. A paragraph is dropped if a document of its round or an earlier one
    contains it.

    Args:
        run: provides library and budget.
        strips: all strips of the turn.
        rows: evidence of the turn, by id.
        ranked: ids of each round, best first; documents of an earlier round keep their share.
        wanted: ids of the documents to read whole.
        question: selects the part of a document that does not fit.
    """
    windows: dict[str, Strip] = {}
    for strip in strips:
        if strip["evidence"] in wanted and _is_window(strip, rows):
            windows[strip["evidence"]] = strip
    rounds: dict[str, int] = {}
    for n, ids in enumerate(ranked):
        for id in ids:
            rounds.setdefault(id, n)
    order = [id for id in rounds if id in windows]
    if not order:
        return [*strips]
    whole = await _documents(run, strips, windows, order, question)
    return _replaced(strips, rows, rounds, whole)


def _replaced(
    strips: Sequence[Strip],
    rows: Mapping[str, Evidence],
    rounds: Mapping[str, int],
    whole: Mapping[str, Strip],
) -> list[Strip]:
    """Return strips with whole documents in place of their windows, without paragraphs of these."""
    shown: list[_Shown] = []
    for id, strip in whole.items():
        shown.append(_Shown(rounds[id], strip["locator"].get("file"), _one_line(strip["text"])))
    read: list[Strip] = []
    for strip in strips:
        if _is_window(strip, rows):
            strip = whole.get(strip["evidence"], strip)
        if not _is_in_document(strip, rows, rounds, shown):
            read.append(strip)
    return read


async def _documents(
    run: RunContext,
    strips: Sequence[Strip],
    windows: Mapping[str, Strip],
    order: Sequence[str],
    question: str,
) -> dict[str, Strip]:
    """Return the documents by id, each within its share of the budget."""
    library = await run.library()
    items = await library.items(order)
    budget = await _budget(run)
    room = budget * CHARS_A_TOKEN
    for strip in strips:
        if strip["evidence"] not in windows:
            room -= len(strip["text"])
    whole: dict[str, Strip] = {}
    for n, id in enumerate(order, 1):
        item = items.get(id)
        if item is None:
            continue
        share = max(TEXT_LIMIT, room - TEXT_LIMIT * (len(order) - n))
        if not run.context.method.whole_documents:
            share = min(LONGEST, share)
        whole[id] = await _read(library, item, windows[id], question, share)
        length = len(whole[id]["text"])
        room -= length
        if budget < run.context.method.turn_tokens and length < len(item.text):
            run.meter.tell(
                "documents", "The model reads little at once, so documents were shown to it in part."
            )
    return whole


def _is_in_document(
    strip: Strip, rows: Mapping[str, Evidence], rounds: Mapping[str, int], shown: Sequence[_Shown]
) -> bool:
    """Return whether a paragraph is part of a document that its round, or an earlier one, shows."""
    row = rows.get(strip["evidence"])
    if row is None or row["corpus"] != "paragraph" or strip["evidence"] not in rounds:
        return False
    text = _one_line(strip["text"])
    file = row["locator"].get("file")
    for document in shown:
        in_time = document.round <= rounds[strip["evidence"]]
        if in_time and document.file == file and text in document.text:
            return True
    return False


def _one_line(text: str) -> str:
    return " ".join(text.split())


async def _budget(run: RunContext) -> int:
    """Return the tokens that documents may take: those of a turn, or as many as the writer has room for."""
    model = chosen("writer", run.context)
    tokens = run.context.method.turn_tokens
    room = await model.room(tokens) if model is not None else 0
    return min(tokens, max(_LEAST, room - _REQUEST)) if room else tokens


def _is_window(strip: Strip, rows: Mapping[str, Evidence]) -> bool:
    """Return whether a strip is all the text that the row of its document carries."""
    row = rows.get(strip["evidence"])
    return row is not None and row["corpus"] == "document" and strip["text"] == row["text"]


async def _read(library: Library, item: Item, window: Strip, question: str, share: int) -> Strip:
    """Return an item as a strip: whole, or the parts that bear on the question and the headings left out."""
    whole = len(item.text) <= share
    text = item.text if whole else await bearing(library, item, question, share - _OUTLINE)
    if not whole or len(await _of_document(library, item, "document")) > 1:
        text += _outline(await _of_document(library, item, "paragraph"), text)
    strip = window.copy()
    strip["id"] = f"{item.id}#0-{len(item.text)}"
    strip["text"] = text
    strip["locator"] = item.locator
    if whole:
        strip["whole"] = True
    return strip


async def _of_document(library: Library, item: Item, corpus: Corpus) -> list[Item]:
    """Return the items of a document; a mail of a mailbox, or a sheet of a workbook, is one of its own."""
    part = item.meta.get("part")
    items = await library.items_of(item.source, corpus)
    return [i for i in items if part in (None, i.meta.get("part"))]


def _outline(paragraphs: Sequence[Item], text: str) -> str:
    """Return the headings of the paragraphs that a text leaves out, or "" if they have none."""
    paths: list[str] = []
    for item in paragraphs:
        if item.text in text:
            continue
        headings = [h for h in item.heading if h != item.title]
        path = " › ".join(headings[-2:])
        if path and path not in paths:
            paths.append(path)
    shown: list[str] = []
    room = _OUTLINE
    for path in paths:
        room -= len(path) + 2
        if room < 0:
            shown.append("…")
            break
        shown.append(path)
    return f"\n\n[This document goes on, not shown here, under: {'; '.join(shown)}]" if shown else ""
