"""Have a vision model describe pictures and frames of clips for a question (VideoRAG, section 3.3)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import TypeVar

from ragweave.components.ask import Chosen, Outcome, first_of, model_of
from ragweave.components.evidence import Evidence
from ragweave.components.picture_relevance import apart, frames, text_relevance
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
"""Pictures that are described and shown at most: those of the best evidence."""
CLIPS = 8
"""Clips that are described at most; the published VideoRAG method describes all of them."""
LONGEST = 1_200
"""Characters of a description that are kept."""
_KNOWN = 1_500
"""Characters of a picture's text or of a clip's transcript that the prompt includes."""

_blind: set[tuple[str, str]] = set()
"""(host, model) of the models that take no pictures at all. This process sends them none again."""
_TAKES_NONE = re.compile(
    r"(?:(?:images|image[ _]inputs?|image_url) (?:is|are) (?:not|only) (?:supported|enabled)"
    r"|(?:not|n['’]t) (?:support|accept|take) (?:any )?(?:images?|pictures|vision|multi-?modal)(?: inputs?)?"
    r"|takes no (?:images|pictures))"
    r"(?=[.!\"'\n]|$| \((?:ref|request)\b| - hint| (?:by|for) (?:this|certain) models?\b(?! \w))"
    r"|no endpoints .{0,20}support image input|not a (?:multi-?modal|vision) model"
    r"|at most 0 image|unknown variant .?image_url|(?:vision|mmproj) is required for image input",
    re.I,
)
"""Messages of servers whose model takes no pictures; other refusals may concern one picture, key or prompt.

A message that continues after this may state such a condition, so it does not match. A model that is missed
costs one refused call a turn.
"""


def viewer(run: RunContext) -> Chat | None:
    """Return the vision model of this run, or None if there is none or it takes no pictures."""
    if run.context.look != "auto":
        return None
    model = chosen("vision", run.context)
    if model is None or (model.host, model.name) in _blind | run.turn.blind:
        return None
    return model


async def unlooked(
    run: RunContext, rows: Sequence[tuple[int, Evidence]], worth: Collection[str]
) -> list[tuple[int, Item]]:
    """Return the first clips and recordings worth a look with frames that were not described yet.

    Clips come first. A whole recording follows only if none of its clips was described, with the frames that
    the clips before it do not have.
    """
    wanted = _to_describe(rows, worth)
    items = await (await run.library()).items(list(wanted)) if wanted else {}
    found: list[tuple[int, Item]] = []
    for item_id, number in wanted.items():
        if item_id in items and frames(items[item_id], 1):
            found.append((number, items[item_id]))
    found = sorted(found[:MOST], key=lambda numbered: numbered[1].corpus == "video")
    out = []
    unseen = apart([item for _, item in found], 1)
    for numbered, frames_left in zip(found, unseen, strict=True):
        if frames_left:
            out.append(numbered)
    return out


def _to_describe(rows: Sequence[tuple[int, Evidence]], worth: Collection[str]) -> dict[str, int]:
    """Return the numbers of clips worth a look, and of recordings without a described clip, by id."""
    described = set()
    for _, row in rows:
        if row["corpus"] == "clip" and "seen" in row:
            described.add(row["locator"].get("file"))
    wanted = {}
    for number, row in rows:
        if "seen" in row or row["id"] not in worth:
            continue
        new_recording = row["corpus"] == "video" and row["locator"].get("file") not in described
        if new_recording or row["corpus"] == "clip":
            wanted[row["id"]] = number
    return wanted


async def look_first(run: RunContext, query: str, rows: Sequence[Evidence], enough: float) -> dict[str, str]:
    """Have a vision model describe pictures that no text can grade: without text, or found by their look.

    A picture whose text reaches the relevance `enough` is not described.

    Returns:
        What it sees that bears on the query, by evidence id; "" if that is nothing.
    """
    model = viewer(run)
    if model is None:
        return {}
    unsure = []
    for row in rows:
        found_by_look = row.get("looks", -1.0) >= 0 or not row["text"].strip()
        if row["corpus"] == "image" and text_relevance(row) < enough and found_by_look:
            unsure.append((row, row["locator"].get("image", "")))
    able = await open_pictures(run, unsure, affordable(run))
    calls = [look_at_picture(run, model, query, row["title"], row["text"], image) for row, image in able]
    replies = await asyncio.gather(*calls)
    out = {}
    for (row, _), text in zip(able, replies, strict=True):
        if text is not None:
            out[row["id"]] = text
    return out


async def look_at_clips(
    run: RunContext, query: str, keywords: Sequence[str], clips: Sequence[Item]
) -> Outcome[dict[str, str]]:
    """Return what is seen in each clip that bears on the query, by id."""
    model = model_of(run.context, "vision") if run.context.look == "auto" else None
    # Failures are noted clip by clip, so the server stays available for the others after one failure.
    first = None if model is None else Chosen("llm")
    return await first_of(run, first, by_model, locally, query, keywords, clips)


async def by_model(
    run: RunContext, query: str, keywords: Sequence[str], clips: Sequence[Item]
) -> dict[str, str]:
    """Return what a vision model sees in each clip, by id, "" for nothing.

    All calls run at the same time. The frames are those stored at indexing: the file is not needed.
    """
    model = viewer(run)
    if model is None:
        return {}
    wanted = clips if run.context.method.form == "video-rag" else clips[:CLIPS]
    spread = apart(wanted, run.context.method.look_frames)
    able = []
    calls = []
    for item, shown in zip(wanted, spread, strict=True):
        if shown:
            able.append(item)
            calls.append(_look_at_clip(run, model, query, keywords, item, shown))
    replies = await asyncio.gather(*calls)
    out = {}
    for item, text in zip(able, replies, strict=True):
        if text is not None:
            out[item.id] = text
    return out


async def _look_at_clip(
    run: RunContext,
    model: Chat,
    query: str,
    keywords: Sequence[str],
    item: Item,
    shown: Sequence[tuple[float, str]],
) -> str | None:
    """Return what the model sees in frames of a clip, None if they are gone or the call failed."""
    opened = await open_pictures(run, shown, len(shown))
    if not opened:
        run.note(f"A clip of “{item.title}” could not be looked at: its frames are gone.")
        return None
    start = item.locator.get("start", shown[0][0])
    end = item.locator.get("end", shown[-1][0])
    messages = load(
        "look",
        question=query,
        transcript=quote(clip(item.text, _KNOWN) or "(nothing)"),
        start=clock(start),
        end=clock(end),
        keywords=", ".join(keywords),
    )
    return await _look(run, model, f"A clip of “{item.title}”", messages, [image for _, image in opened])


async def locally(
    run: RunContext, query: str, keywords: Sequence[str], clips: Sequence[Item]
) -> dict[str, str]:
    """Return nothing: without a vision model no clip is described."""
    return {}


def affordable(run: RunContext, most: int = MOST) -> int:
    """Return how many pictures half of the remaining tokens hold, each described once and shown once."""
    limit = run.meter.limits.tokens
    if not limit:
        return most
    spent = run.meter.spent
    left = limit - spent.input_tokens - spent.output_tokens
    return max(0, min(most, left // (4 * IMAGE_TOKENS)))


async def open_pictures(
    run: RunContext, pictures: Sequence[tuple[K, str]], most: int
) -> list[tuple[K, bytes]]:
    """Read the first `most` pictures by their media ids; leave out those that are gone."""
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
        reply = await model.text(messages, node=run.node, meter=run.meter, images=images)
    except BudgetSpent as error:
        run.note(f"Not everything was looked at: {error}")
        return None
    except RagweaveError as error:
        if isinstance(error, ModelTransient) or error.code != "model":
            run.note(f"{what} could not be looked at: {error}")
        elif (model.host, model.name) not in run.turn.blind:
            show_no_more(run, model, error)
        return None
    text = clip(" ".join(reply.split()), LONGEST)
    return "" if text.strip(" .!").upper() == "NOTHING" else text


def show_no_more(run: RunContext, model: Chat, error: RagweaveError) -> None:
    """Note that a model refused pictures, and send it none again in this turn, or ever if it takes none."""
    run.note(f"Pictures could not be shown to {model.name}: {error}")
    run.turn.blind.add((model.host, model.name))
    for cause in causes(error):
        if _TAKES_NONE.search(str(cause)):
            _blind.add((model.host, model.name))
