"""Pictures that come with a question: what they show becomes part of the question, as data.

The state holds their ids alone. Their pixels and words stay in this process, where the door that took them put them,
until the question is framed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AnyMessage, HumanMessage

from ragweave.models.chat import Chat
from ragweave.models.text import clip
from ragweave.nodes.run import Run
from ragweave.prompts import load, quote

MOST = 4
"""Pictures that one question may have."""
_WORDS = 500
"""Characters of the words in pictures that are searched with the question: more would drown it."""
_TOLD = 2_000
"""Characters of the words in pictures that a vision model is told."""
_HELD = 256
"""Pictures that are kept: those of the questions that are under way, and of the last ones."""
_KEY = "ragweave_pictures"


@dataclass(frozen=True, slots=True)
class Attached:
    """One picture, as it was read when it came in.

    Attributes:
        id: digest of the file.
        image: a small JPEG copy.
        words: the words in it, in reading order.
        unread: why its words were not read, or "".
    """

    id: str
    image: bytes
    words: str
    unread: str = ""


_held: OrderedDict[str, Attached] = OrderedDict()


def held(id: str) -> Attached | None:
    """Return a picture that this process still has."""
    return _held.get(id)


def asked_with(text: str, pictures: Sequence[Attached]) -> HumanMessage:
    """Return a question with pictures as a message that holds their ids."""
    for picture in pictures:
        _held[picture.id] = picture
        _held.move_to_end(picture.id)
    while len(_held) > _HELD:
        _held.popitem(last=False)
    return HumanMessage(text, additional_kwargs={_KEY: [p.id for p in pictures]} if pictures else {})


def attached(message: AnyMessage) -> list[Attached]:
    """Return the pictures of a message that this process still has."""
    ids = message.additional_kwargs.get(_KEY)
    return [_held[i] for i in ids[:MOST] if i in _held] if isinstance(ids, list) else []


def said(message: AnyMessage) -> str:
    """Return a message as text, with the words in its pictures."""
    return _with(message.text, _words(attached(message)))


async def seen(run: Run, question: str, pictures: Sequence[Attached]) -> str:
    """Return a question that can be understood without its pictures.

    A vision model names in it what the pictures show; without one the words that were read in them stand behind it.
    """
    model = run.chat("vision") if run.context.look == "auto" else None
    return await run.decide(
        model, lambda vision: _look(vision, run, question, pictures), lambda: _read(run, question, pictures)
    )


async def _look(vision: Chat, run: Run, question: str, pictures: Sequence[Attached]) -> str | None:
    words = quote(clip("\n".join(p.words for p in pictures), _TOLD) or "(none)")
    messages = load("frame_picture", question=question, words=words)
    images = [p.image for p in pictures]
    reply = (await vision.text(messages, node=run.node, meter=run.meter, images=images)).strip()
    if not 0 < len(reply) <= max(600, 4 * len(question)) or "\n" in reply:
        return None  # an answer or a refusal, not a question
    run.note(f"With what was sent as a picture, the question was read as: “{reply}”")
    return reply


async def _read(run: Run, question: str, pictures: Sequence[Attached]) -> str:
    words = _words(pictures)
    if words:
        run.note(f"The words in what was sent as a picture were searched with the question: “{words}”")
    else:
        why = next((p.unread for p in pictures if p.unread), "no words were found in it")
        run.note(f"The picture changed nothing: {why}, and looking at it takes a vision model (RAGWEAVE_VISION).")
    return _with(question, words)


def _words(pictures: Sequence[Attached]) -> str:
    return clip(" ".join(" ".join(p.words for p in pictures).split()), _WORDS)


def _with(question: str, words: str) -> str:
    return f"{question} “{words}”" if words else question
