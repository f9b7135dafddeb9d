"""What is set up of each part, in the words of `ragweave doctor` and `ragweave setup`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal, NamedTuple

from ragweave.models.errors import RagweaveError
from ragweave.models.offers import TABLE, PartName

if TYPE_CHECKING:
    from ragweave.models.chat import Chat


class Finding(NamedTuple):
    """One line of a report.

    The state is `off` for what is optional and not there, `bad` for what will fail.
    """

    area: str
    state: Literal["ok", "off", "warn", "bad"]
    what: str
    remedy: str = ""


async def part_of(name: PartName) -> Finding:
    """Look at a part: open its model, or say what happens without one."""
    looks = {
        "chat": _chat,
        "encoder": _encoder,
        "reranker": _reranker,
        "pictures": _pictures,
        "vision": _vision,
        "speech": _speech,
    }
    try:
        return await looks[name]()
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
    url = model_settings().chat_url
    if not url:
        what = f"{what} (not called: `ragweave setup chat` asks it for one word){await _learnt(writer)}"
        return Finding(title, "ok", what)
    try:
        # No tokens are spent on looking whether a server is there.
        async with httpx.AsyncClient(timeout=5, trust_env=False) as client:
            status = (await client.get(f"{url}/models")).status_code
        problem = f"it answers {status}" if status >= 500 else ""
    except httpx.HTTPError as error:
        problem = str(error) or type(error).__name__
    if problem:
        return Finding(
            title,
            "bad",
            f"{what} cannot be reached ({problem})",
            "start the server, or `ragweave setup chat`",
        )
    return Finding(title, "ok", f"{what}, the server answers{await _learnt(writer)}")


async def _learnt(writer: Chat) -> str:
    """Return what was learnt of a server from its refusals, to be added to what is said of it."""
    from ragweave.models.chat_client import ways_file
    from ragweave.models.chat_ways import recall
    from ragweave.models.settings import model_settings

    server = f"{writer.name} at {writer.host}"
    learnt = (await asyncio.to_thread(recall, ways_file(model_settings().home), server)).learnt()
    return "".join(f"; {words}" for words in learnt)


async def _encoder() -> Finding:
    from ragweave.models.embed import encoder
    from ragweave.models.settings import model_settings

    found = await asyncio.to_thread(encoder)
    vector = await asyncio.to_thread(found.queries, ["Is anyone there?"])
    if model_settings().embed == "wordllama":
        return _without("encoder", "ok")
    return Finding(TABLE["encoder"].title, "ok", f"{found.name}, vectors of {vector.shape[1]} numbers")


async def _reranker() -> Finding:
    from ragweave.models.rerank import reranker

    found = await asyncio.to_thread(reranker)
    return _without("reranker", "ok") if found is None else Finding(TABLE["reranker"].title, "ok", found.name)


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
    return (
        off._replace(what=f"{off.what}; {settings.chat} is shown them at a question")
        if settings.chat
        else off
    )


async def _speech() -> Finding:
    from ragweave.corpora.video.intake import installed
    from ragweave.models.asr import asr, why_none

    title = TABLE["speech"].title
    if not installed():
        what = "videos and sound are not read; transcripts (VTT, SRT, JSON Lines) are"
        return Finding(title, "off", what, "install it with: pip install 'ragweave[video]'")
    listens = asr()
    if listens is None:
        why, remedy = why_none()
        what = f"videos are looked at, and what is said in them is not heard: {why}; subtitles are used"
        return Finding(title, "off", what, remedy)
    return Finding(title, "ok", f"videos are looked at, and heard by {listens.name}")
