"""Documents as a chat model reads them: whole, up to the budget of its prompt (UniversalRAG, section 3.2).

A row of the state carries a window of a document. A document that was asked for as one is read from the
store: the best first, with the largest share of the budget. Of what does not fit, the headings are told.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ragweave.components.bearing import bearing
from ragweave.components.evidence import TEXT_LIMIT, Evidence, Strip
from ragweave.components.run_context import RunContext, chosen
from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Corpus, Item

CHARS_A_TOKEN = 3
"""Characters that a token is counted as, on the safe side."""
_ASKING, _LEAST = 1_000, 500
"""Tokens of a small prompt that are left to the request itself, and that documents get at least."""
LONGEST = 12_000
"""Characters of one document that are read, headings included; of a longer one the strips that bear on the question."""
_OUTLINE = 1_000
"""Characters of the headings of what is not shown."""


async def read_whole(
    run: RunContext,
    strips: Sequence[Strip],
    rows: Mapping[str, Evidence],
    ranked: Sequence[Sequence[str]],
    wanted: Collection[str],
    question: str,
) -> list[Strip]:
    """Return strips with the text of the wanted documents in place of their windows.

    Chosen strips of a document stay. A paragraph goes if a document of its round or an earlier one holds it.

    Args:
        run: lends the library and the budget.
        strips: what is known.
        rows: evidence of the turn, by id.
        ranked: ids of each round, best first; what an earlier round showed keeps its share.
        wanted: ids of the documents that are read whole.
        question: chooses the stretch of a document that does not fit.
    """
    documents = [s for s in strips if s["evidence"] in wanted]
    windows = {s["evidence"]: s for s in documents if _is_window(s, rows)}
    rounds = {i: n for n, ids in reversed([*enumerate(ranked)]) for i in ids}
    order = [i for i in dict.fromkeys(i for ids in ranked for i in ids) if i in windows]
    if not order:
        return [*strips]
    library = await run.library()
    items, whole = await library.items(order), dict[str, Strip]()
    budget = await _budget(run)
    room = budget * CHARS_A_TOKEN - sum(len(s["text"]) for s in strips if s["evidence"] not in windows)
    for n, i in enumerate(order, 1):
        if (item := items.get(i)) is not None:
            share = min(LONGEST, max(TEXT_LIMIT, room - TEXT_LIMIT * (len(order) - n)))
            whole[i] = await _read(library, item, windows[i], question, share)
            room -= len(whole[i]["text"])
            if budget < run.context.method.turn_tokens and len(whole[i]["text"]) < len(item.text):
                run.meter.tell(
                    "documents", "The model reads little at once, so documents were shown to it in part."
                )
    read = [whole.get(s["evidence"], s) if _is_window(s, rows) else s for s in strips]
    held = [(rounds[i], s["locator"].get("file"), " ".join(s["text"].split())) for i, s in whole.items()]
    return [s for s in read if not _is_held(s, rows, rounds, held)]


def _is_held(
    strip: Strip,
    rows: Mapping[str, Evidence],
    rounds: Mapping[str, int],
    held: Sequence[tuple[int, str | None, str]],
) -> bool:
    """Tell whether a paragraph is in a document that its round, or an earlier one, shows."""
    row, said = rows.get(strip["evidence"]), " ".join(strip["text"].split())
    if row is None or row["corpus"] != "paragraph" or strip["evidence"] not in rounds:
        return False
    of = row["locator"].get("file")
    return any(of == file and said in text and n <= rounds[strip["evidence"]] for n, file, text in held)


async def _budget(run: RunContext) -> int:
    """Return the tokens that documents may take: those of a turn, or what the model that reads them has room for."""
    model, tokens = chosen("writer", run.context), run.context.method.turn_tokens
    room = await model.room(tokens) if model is not None else 0
    return min(tokens, max(_LEAST, room - _ASKING)) if room else tokens


def _is_window(strip: Strip, rows: Mapping[str, Evidence]) -> bool:
    """Tell whether a strip is all that the row of its document carries."""
    row = rows.get(strip["evidence"])
    return row is not None and row["corpus"] == "document" and strip["text"] == row["text"]


async def _read(library: Library, item: Item, window: Strip, question: str, share: int) -> Strip:
    """Return an item as a strip: all of it, or the stretches that bear on the question, and the headings left out."""
    whole = len(item.text) <= share
    text = item.text if whole else await bearing(library, item, question, share - _OUTLINE)

    async def own(corpus: Corpus) -> list[Item]:
        # A mail of a mailbox, or a sheet of a workbook, is a document of its own.
        part = item.meta.get("part")
        return [i for i in await library.items_of(item.source, corpus) if part in (None, i.meta.get("part"))]

    if not whole or len(await own("document")) > 1:
        text += _outline([i for i in await own("paragraph") if i.text not in text])
    made = Strip(**{**window, "id": f"{item.id}#0-{len(item.text)}", "text": text, "locator": item.locator})
    return Strip(**{**made, "whole": True}) if whole else made


def _outline(left: Sequence[Item]) -> str:
    """Name the headings of paragraphs that are left out of a document; "" where they have none."""
    paths = ([h for h in i.heading if h != i.title][-2:] for i in left)
    heads = dict.fromkeys(" › ".join(path) for path in paths if path)
    told, room = list[str](), _OUTLINE
    for head in heads:
        room -= len(head) + 2
        if room < 0:
            told.append("…")
            break
        told.append(head)
    return f"\n\n[This document goes on, not shown here, under: {'; '.join(told)}]" if told else ""
