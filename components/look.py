"""Look at pictures and at frames of clips with the question in mind (VideoRAG, section 3.3)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import TypeVar

from ragweave.components.ask import Chosen, Outcome, first_of, model_of
from ragweave.components.evidence import Evidence
from ragweave.components.picture_relevance import apart, frames, told
from ragweave.components.run_context import RunContext, chosen
from ragweave.corpora.store.media import Media
from ragweave.corpora.types import Item
from ragweave.models.chat import Chat
from ragweave.models.chat_reply import IMAGE_TOKENS
from ragweave.models.errors import BudgetSpent, ModelTransient, RagweaveError
from ragweave.models.failures import causes
from ragweave.models.text import clip, clock
from ragweave.prompts import Messages, load, quote

K = TypeVar("K")

MOST = 4
"""Pictures that are looked at and shown: those of the best evidence."""
CLIPS = 8
"""Clips that are looked at: the first of those that were kept; all of them as published (VideoRAG)."""
LONGEST = 1_200
"""Characters of what is kept of a look."""
_KNOWN = 1_500
"""Characters of what is known of a picture or said in a clip that the one who looks is told."""

_blind: set[tuple[str, str]] = set()
"""(host, model) of the models that take no pictures at all; this process does not ask them again."""
_TAKES_NONE = re.compile(
    r"(?:(?:images|image[ _]inputs?|image_url) (?:is|are) (?:not|only) (?:supported|enabled)"
    r"|(?:not|n['’]t) (?:support|accept|take) (?:any )?(?:images?|pictures|vision|multi-?modal)(?: inputs?)?"
    r"|takes no (?:images|pictures))"
    r"(?=[.!\"'\n]|$| \((?:ref|request)\b| - hint| (?:by|for) (?:this|certain) models?\b(?! \w))"
    r"|no endpoints .{0,20}support image input|not a (?:multi-?modal|vision) model"
    r"|at most 0 image|unknown variant .?image_url|(?:vision|mmproj) is required for image input",
    re.I,
)
"""What servers say of a model without eyes; any other refusal may be of one picture, one key or one prompt.

If more follows than a stop or the model, it may be such a condition: a miss costs one refused call a turn.
"""


def viewer(run: RunContext) -> Chat | None:
    """Return the vision model that looks in this run, or None where none does or it takes no pictures."""
    model = chosen("vision", run.context) if run.context.look == "auto" else None
    return None if model is None or (model.host, model.name) in _blind | run.turn.blind else model


async def unlooked(
    run: RunContext, rows: Sequence[tuple[int, Evidence]], worth: Collection[str]
) -> list[tuple[int, Item]]:
    """Return the first clips and recordings of numbered evidence worth a look that have unseen frames.

    Clips come first: of a whole recording what they do not show is left, and nothing if its clips were seen.
    """
    looked = {e["locator"].get("file") for _, e in rows if e["corpus"] == "clip" and "seen" in e}
    wanted = {}
    for n, e in rows:
        if "seen" in e:
            continue
        whole = e["corpus"] == "video" and e["locator"].get("file") not in looked
        if e["id"] in worth and (whole or e["corpus"] == "clip"):
            wanted[e["id"]] = n
    items = await (await run.library()).items(list(wanted)) if wanted else {}
    found = [(n, items[i]) for i, n in wanted.items() if i in items and frames(items[i], 1)][:MOST]
    found.sort(key=lambda row: row[1].corpus == "video")
    left = apart([item for _, item in found], 1)
    return [row for row, shown in zip(found, left, strict=True) if shown]


async def look_first(run: RunContext, query: str, rows: Sequence[Evidence], enough: float) -> dict[str, str]:
    """Have a vision model look at pictures that no text can grade: without any text, or found by their look.

    From the relevance `enough` on what is written about a picture settles it.

    Returns:
        What it sees that bears on the query, by evidence id; "" where that is nothing.
    """
    model = viewer(run)
    if model is None:
        return {}
    unsure = []
    for e in rows:
        found_by_look = e.get("looks", -1.0) >= 0 or not e["text"].strip()
        if e["corpus"] == "image" and told(e) < enough and found_by_look:
            unsure.append((e, e["locator"].get("image", "")))
    able = await open_pictures(run, unsure, affordable(run))
    asked = (look_at_picture(run, model, query, e["title"], e["text"], image) for e, image in able)
    replies = await asyncio.gather(*asked)
    return {e["id"]: text for (e, _), text in zip(able, replies, strict=True) if text is not None}


async def look_at_clips(
    run: RunContext, query: str, keywords: Sequence[str], clips: Sequence[Item]
) -> Outcome[dict[str, str]]:
    """Return what is seen in each clip, by id, with the question in mind."""
    model = model_of(run.context, "vision") if run.context.look == "auto" else None
    # Each clip that fails is noted by itself: no server that is down for one is lost for the others.
    first = None if model is None else Chosen("llm")
    return await first_of(run, first, by_model, locally, query, keywords, clips)


async def by_model(
    run: RunContext, query: str, keywords: Sequence[str], clips: Sequence[Item]
) -> dict[str, str]:
    """Return what a vision model sees in each clip, by id, "" for nothing; all calls run at the same time.

    The frames are those stored at indexing, so the original file is not needed.
    """
    model = viewer(run)
    wanted = clips if run.context.method.form == "video-rag" else clips[:CLIPS]
    spread = apart(wanted, run.context.method.look_frames)
    able = [(item, shown) for item, shown in zip(wanted, spread, strict=True) if shown]
    if model is None:
        return {}

    async def seen(item: Item, shown: Sequence[tuple[float, str]]) -> str | None:
        images = [image for _, image in await open_pictures(run, shown, len(shown))]
        if not images:
            run.note(f"A clip of “{item.title}” could not be looked at: its frames are gone.")
            return None
        start, end = item.locator.get("start", shown[0][0]), item.locator.get("end", shown[-1][0])
        place = {"start": clock(start), "end": clock(end), "keywords": ", ".join(keywords)}
        transcript = quote(clip(item.text, _KNOWN) or "(nothing)")
        messages = load("look", question=query, transcript=transcript, **place)
        return await _look(run, model, f"A clip of “{item.title}”", messages, images)

    replies = await asyncio.gather(*(seen(item, shown) for item, shown in able))
    return {item.id: text for (item, _), text in zip(able, replies, strict=True) if text is not None}


async def locally(
    run: RunContext, query: str, keywords: Sequence[str], clips: Sequence[Item]
) -> dict[str, str]:
    """See nothing: without a vision model nothing is looked at."""
    return {}


def affordable(run: RunContext, most: int = MOST) -> int:
    """Return how many pictures half of the remaining tokens hold, each looked at once and shown once."""
    limit, spent = run.meter.limits.tokens, run.meter.spent
    left = limit - spent.input_tokens - spent.output_tokens
    return max(0, min(most, left // (4 * IMAGE_TOKENS))) if limit else most


async def open_pictures(
    run: RunContext, pictures: Sequence[tuple[K, str]], most: int
) -> list[tuple[K, bytes]]:
    """Read the first `most` pictures by their media ids; those that are gone are left out."""
    wanted = [row for row in pictures if row[1]][:most]
    if not wanted:
        return []
    media = Media.of((await run.library()).id)

    def read() -> list[tuple[K, bytes]]:
        out = []
        for key, media_id in wanted:
            with suppress(RagweaveError, OSError):
                out.append((key, media.path(media_id).read_bytes()))
        return out

    return await asyncio.to_thread(read)


async def look_at_picture(
    run: RunContext, model: Chat, question: str, title: str, text: str, image: bytes
) -> str | None:
    """Return what a model sees in a picture that bears on the question, "" for nothing, None if it failed."""
    known = quote(f"{title}\n{clip(text, _KNOWN)}".strip() or "(nothing)")
    messages = load("look_picture", question=question, known=known)
    return await _look(run, model, f"A picture of “{title}”", messages, [image])


async def _look(
    run: RunContext, model: Chat, what: str, messages: Messages, images: Sequence[bytes]
) -> str | None:
    """Return what the model sees that bears on the question, "" for nothing, None and a note if it failed."""
    try:
        said = await model.text(messages, node=run.node, meter=run.meter, images=images)
    except BudgetSpent as error:
        run.note(f"Not everything was looked at: {error}")
        return None
    except RagweaveError as error:
        if isinstance(error, ModelTransient) or error.code != "model":
            run.note(f"{what} could not be looked at: {error}")
        elif (model.host, model.name) not in run.turn.blind:
            show_no_more(run, model, error)
        return None
    text = clip(" ".join(said.split()), LONGEST)
    return "" if text.strip(" .!").upper() == "NOTHING" else text


def show_no_more(run: RunContext, model: Chat, error: RagweaveError) -> None:
    """Note that a model refused pictures; it gets none again in this turn, or never if it takes none."""
    run.note(f"Pictures could not be shown to {model.name}: {error}")
    run.turn.blind.add((model.host, model.name))
    if any(_TAKES_NONE.search(str(e)) for e in causes(error)):
        _blind.add((model.host, model.name))
