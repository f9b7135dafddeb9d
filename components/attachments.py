"""Pictures that come with a question: what they show becomes part of the question, as data.

The state holds their ids alone. Their pixels and words stay in this process, where the door that took them
put them, until the question is framed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AnyMessage, HumanMessage

from ragweave.models.text import clip

MOST = 4
"""Pictures that one question may have."""
_WORDS = 500
"""Characters of the words in pictures that are searched with the question: more would drown it."""
_HELD = 256
"""Pictures that are kept: those of the questions that are under way, and of the last ones."""
_KEY = "ragweave_pictures"


@dataclass(frozen=True, slots=True)
class Attachment:
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


_held: OrderedDict[str, Attachment] = OrderedDict()


def held(id: str) -> Attachment | None:
    """Return a picture that this process still has."""
    return _held.get(id)


def asked_with(text: str, pictures: Sequence[Attachment]) -> HumanMessage:
    """Return a question with pictures as a message that holds their ids."""
    for picture in pictures:
        _held[picture.id] = picture
        _held.move_to_end(picture.id)
    while len(_held) > _HELD:
        _held.popitem(last=False)
    return HumanMessage(text, additional_kwargs={_KEY: [p.id for p in pictures]} if pictures else {})


def attached(message: AnyMessage) -> list[Attachment]:
    """Return the pictures of a message that this process still has."""
    ids = message.additional_kwargs.get(_KEY)
    return [_held[i] for i in ids[:MOST] if i in _held] if isinstance(ids, list) else []


def said(message: AnyMessage) -> str:
    """Return a message as text, with the words in its pictures."""
    return with_words(message.text, words_in(attached(message)))


def words_in(pictures: Sequence[Attachment]) -> str:
    """Return the words that were read in pictures, as one line."""
    return clip(" ".join(" ".join(p.words for p in pictures).split()), _WORDS)


def with_words(question: str, words: str) -> str:
    """Return a question with the words of its pictures behind it."""
    return f"{question} “{words}”" if words else question
