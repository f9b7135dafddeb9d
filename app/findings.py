"""The state of each model part, as `ragweave doctor` and `ragweave setup` print it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal, NamedTuple

from ragweave.models.errors import RagweaveError
from ragweave.models.offers import TABLE, PartName

if TYPE_CHECKING:
    from ragweave.models.chat import Chat


class Finding(NamedTuple):
    """One line of a report.

    The state is `off` if an optional part is missing, and `bad` if something will fail.
    """

    area: str
    state: Literal["ok", "off", "warn", "bad"]
    what: str
    remedy: str = ""


async def part_of(name: PartName) -> Finding:
    """Open the model of a part, and return its state; without a model, say what happens instead."""
    checks = {
        "chat": _chat,
        "encoder": _encoder,
        "reranker": _reranker,
        "pictures": _pictures,
        "vision": _vision,
        "speech": _speech,
    }
    try:
        return await checks[name]()
    except RagweaveError as error:
        return Finding(TABLE[name].title, "bad", error.what, error.remedy)


def _without(name: PartName, state: Literal["ok", "off"] = "off") -> Finding:
    return Finding(TABLE[name].title, state, TABLE[name].without, f"`ragweave setup {name}`")


async def _chat() -> Finding:
    import httpx

    from ragweave.models.chat import chat
    from ragweave.models.settings import model_settings

    writer, title = chat("writer"), TABLE["chat"].title
    if writer is None:
        return _without("chat")
    what = f"{writer.name} at {writer.host}"
    learnt = await _learnt(writer)
    url = model_settings().chat_url
    if not url:
        what = f"{what} (not called: `ragweave setup chat` asks it for one word){learnt}"
        return Finding(title, "ok", what)
    try:
        # Listing the models costs no tokens.
        async with httpx.AsyncClient(timeout=5, trust_env=False) as client:
            status = (await client.get(f"{url}/models")).status_code
        problem = f"it answers {status}" if status >= 500 else ""
    except httpx.HTTPError as error:
        problem = str(error) or type(error).__name__
    if problem:
        what = f"{what} cannot be reached ({problem})"
        return Finding(title, "bad", what, "start the server, or `ragweave setup chat`")
    return Finding(title, "ok", f"{what}, the server answers{learnt}")


async def _learnt(writer: Chat) -> str:
    """Return what earlier refusals of a server taught, as words to append to its state."""
    from ragweave.models.chat_client import ways_file
    from ragweave.models.chat_ways import recall
    from ragweave.models.settings import model_settings

    server = f"{writer.name} at {writer.host}"
    ways = await asyncio.to_thread(recall, ways_file(model_settings().home), server)
    return "".join([f"; {words}" for words in ways.learnt()])


async def _encoder() -> Finding:
    from ragweave.models.embed import encoder
    from ragweave.models.settings import model_settings

    found = await asyncio.to_thread(encoder)
    vector = await asyncio.to_thread(found.queries, ["test"])
    if model_settings().embed == "wordllama":
        return _without("encoder", "ok")
    return Finding(TABLE["encoder"].title, "ok", f"{found.name}, vectors of {vector.shape[1]} numbers")


async def _reranker() -> Finding:
    from ragweave.models.rerank import reranker

    found = await asyncio.to_thread(reranker)
    if found is None:
        return _without("reranker", "ok")
    return Finding(TABLE["reranker"].title, "ok", found.name)


async def _pictures() -> Finding:
    from ragweave.models.image_text import image_encoder

    encoder = await asyncio.to_thread(image_encoder)
    if encoder is None:
        return _without("pictures")
    what = f"pictures are seen by {encoder.name}, vectors of {encoder.dim} numbers"
    return Finding(TABLE["pictures"].title, "ok", what)


async def _vision() -> Finding:
    from ragweave.models.settings import model_settings

    settings = model_settings()
    if settings.vision:
        what = f"{settings.vision} describes pictures when they are indexed, and is shown them at a question"
        return Finding(TABLE["vision"].title, "ok", what)
    off = _without("vision")
    if settings.chat:
        off = off._replace(what=f"{off.what}; {settings.chat} is shown them at a question")
    return off


async def _speech() -> Finding:
    from ragweave.corpora.video.intake import installed
    from ragweave.models.asr import asr, why_none

    title = TABLE["speech"].title
    if not installed():
        what = "videos and sound are not read; transcripts (VTT, SRT, JSON Lines) are"
        return Finding(title, "off", what, "install it with: pip install 'ragweave[video]'")
    recogniser = asr()
    if recogniser is None:
        why, remedy = why_none()
        what = f"videos are looked at, and their speech is not heard: {why}; subtitles are used"
        return Finding(title, "off", what, remedy)
    return Finding(title, "ok", f"videos are looked at, and heard by {recogniser.name}")
