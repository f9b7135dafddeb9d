"""Look at the frames of the kept clips with the question in mind (VideoRAG, section 3.3), from stored frames alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from langgraph.runtime import Runtime

from ragweave.corpora.store.media import Media
from ragweave.corpora.types import Item
from ragweave.minds.context import Context
from ragweave.models.chat import Chat
from ragweave.models.errors import BudgetSpent, ModelTransient, RagweaveError
from ragweave.models.text import clip, clock
from ragweave.nodes.retrieve_video import VideoState
from ragweave.nodes.run import Run
from ragweave.nodes.state import State, Update
from ragweave.prompts import load, quote

MOST = 8
"""Clips that are looked at: the first of those that were kept."""
LONGEST = 1_200
"""Characters of what is kept of a look."""
_TRANSCRIPT = 1_500

_blind: set[tuple[str, str]] = set()
"""(host, model) of the models that refused pictures, for the life of the process: they are not asked again."""


async def look(state: VideoState, runtime: Runtime[Context]) -> Update:
    """Return what a vision model sees in each kept clip, all of them asked at the same time.

    The frames are those stored at indexing, so the original file is not needed. Without a vision model, or where none
    of the clips has frames, nothing is looked at; a clip that cannot be looked at costs a note, not the others.
    """
    run = Run.of("look", State(turn=state.get("turn", ""), hop=state.get("hop", 1)), runtime)
    clips = state.get("clips", [])[:MOST]
    model = run.chat("vision") if run.context.look == "auto" else None
    if model is None or (model.host, model.name) in _blind or not clips:
        run.by = "off"
        return run.done("nothing to look with" if clips else "no clip to look at")
    library = await run.library()
    items = await library.items(clips)
    media = Media.of(library.id)
    able = [(items[i], shown) for i in clips if i in items and (shown := frames(items[i], run.context.look_frames))]
    if not able:
        run.by = "off"
        return run.done("the clips have no frames")
    run.by = "llm"
    replies = await asyncio.gather(*(_seen(model, run, state, media, item, shown) for item, shown in able))
    seen = {item.id: text for (item, _), text in zip(able, replies, strict=True) if text}
    return run.done(f"{len(seen)} of {len(able)} clips show something", data={"looked": seen}, looked=seen)


def frames(item: Item, most: int) -> list[tuple[float, str]]:
    """Return up to `most` frames of a clip as (seconds, media id), evenly spread over it."""
    stored = item.meta.get("frames")
    rows = [(float(r[0]), str(r[1])) for r in stored] if isinstance(stored, list) else []
    if len(rows) <= most:
        return rows
    return [rows[round(n * (len(rows) - 1) / max(1, most - 1))] for n in range(most)]


async def _seen(
    model: Chat, run: Run, state: VideoState, media: Media, item: Item, shown: Sequence[tuple[float, str]]
) -> str:
    """Return what the model sees in one clip, or an empty string."""
    try:
        images = await asyncio.to_thread(lambda: [_bytes(media.path(i)) for _, i in shown])
        locator = item.locator
        messages = load(
            "look",
            question=state["query"],
            keywords=", ".join(state["recast"]["keywords"]),
            start=clock(locator.get("start", shown[0][0])),
            end=clock(locator.get("end", shown[-1][0])),
            transcript=quote(clip(item.text, _TRANSCRIPT) or "(nothing)"),
        )
        said = await model.text(messages, node="look", meter=run.meter, images=images)
    except BudgetSpent as error:
        run.note(f"Not every clip was looked at: {error}")
        return ""
    except RagweaveError as error:
        run.note(f"A clip of “{item.title}” could not be looked at: {error}")
        if not isinstance(error, ModelTransient) and error.code == "model":
            _blind.add((model.host, model.name))
        return ""
    text = clip(" ".join(said.split()), LONGEST)
    return "" if text.strip(" .!").upper() == "NOTHING" else text


def _bytes(path: Path) -> bytes:
    return path.read_bytes()
