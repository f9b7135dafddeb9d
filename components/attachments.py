"""Keep the pictures of a question; what they show becomes part of the question, as data.

The state holds only their ids. Their pixels and words stay in this process until the question is framed.
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
"""Characters of the words in pictures to search with the question: more would outweigh it."""
_HELD = 256
"""Pictures in memory: those of running questions and of the last ones."""
_KEY = "ragweave_pictures"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A picture with its words.

    Attributes:
        id: digest of the file.
        image: a small JPEG copy.
        words: the words in it, in reading order.
        unread: reason if its words could not be read, or "".
    """

    id: str
    image: bytes
    words: str
    unread: str = ""


_held: OrderedDict[str, Attachment] = OrderedDict()


def held(id: str) -> Attachment | None:
    """Return a picture if this process still holds it."""
    return _held.get(id)


def asked_with(text: str, pictures: Sequence[Attachment]) -> HumanMessage:
    """Return a question with pictures as a message that holds their ids."""
    for picture in pictures:
        _held[picture.id] = picture
        _held.move_to_end(picture.id)
    while len(_held) > _HELD:
        _held.popitem(last=False)
    if not pictures:
        return HumanMessage(text)
    return HumanMessage(text, additional_kwargs={_KEY: [p.id for p in pictures]})


def attached(message: AnyMessage) -> list[Attachment]:
    """Return the pictures of a message that this process still holds."""
    ids = message.additional_kwargs.get(_KEY)
    if not isinstance(ids, list):
        return []
    found: list[Attachment] = []
    for id in ids[:MOST]:
        if id in _held:
            found.append(_held[id])
    return found


def said(message: AnyMessage) -> str:
    """Return a message as text, with the words in its pictures."""
    return with_words(message.text, words_in(attached(message)))


def words_in(pictures: Sequence[Attachment]) -> str:
    """Return the words in pictures as one line."""
    words: list[str] = []
    for picture in pictures:
        words += picture.words.split()
    return clip(" ".join(words), _WORDS)


def with_words(question: str, words: str) -> str:
    """Return a question followed by the words of its pictures."""
    return f"{question} “{words}”" if words else question
