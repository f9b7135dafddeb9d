"""What goes into one call of a chat model and what comes out: pictures, text, tokens, thoughts, labels."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragweave.models.meter import Meter
from ragweave.models.text import storable
from ragweave.models.thoughts import ThoughtReader, answer_in

if TYPE_CHECKING:
    from langchain_core.messages import AIMessageChunk

Messages = Sequence[tuple[str, str]]
"""(role, text) pairs; roles are `system`, `user` and `assistant`."""

IMAGE_TOKENS = 1_000
"""What one picture is taken to cost before the server says: about what a picture of 1,024 pixels costs."""
LONGEST = 200_000
"""Characters of a reply that are read."""

_FINISH = ("finish_reason", "stop_reason", "done_reason")
_FAILED = re.compile(
    r"abort|cancel|error|fail|time.?out|interrupt|network|overload|insufficient|malformed", re.I
)
_STOPPED = re.compile(
    _FAILED.pattern
    + r"|filter|safe|content|recitation|prohibit|block|spii|censor|polic|sensitive|moderat|refus"
    r"|guardrail|harm|language|image|other|unexpected",
    re.I,
)
"""Reasons why a server ends a reply before its model does."""
_WORD = re.compile(r"[^\W_]+")
_NEGATION = r"\b(?:not|no|never|isn|aren|wasn|cannot|neither|nor|t)[\W_]+(?:(?:an?|the)[\W_]+)?"
_HELD = 1_000
"""Characters of a first sentence that are waited for."""
_ENDED = re.compile(r"[.!?…][\"'”’)\]】]*\s|[。！？]|\S\s*\n")
_WHOLE = re.compile(r"[.!?…。！？][\"'”’)\]】」』*\s]*(?:\[[\d, ]+\][.\s]*)*\Z")
"""How a text ends that is whole: with a sentence, and what it cites."""


@dataclass(frozen=True)
class ModelRequest:
    """What a chat model is asked: messages with pictures, JPEG files, by which node, and out of which budget."""

    messages: Messages
    node: str
    meter: Meter
    images: Sequence[bytes] = ()
    bound: Any = None
    """The model bound to a schema, where the reply shall fit one."""

    @property
    def tokens(self) -> int:
        """About how long the prompt is."""
        return tokens_of("".join(text for _, text in self.messages)) + len(self.images) * IMAGE_TOKENS

    @property
    def sent(self) -> list[Any]:
        """The messages, with the pictures as data URLs in the last one of the user."""
        sent: list[Any] = list(self.messages)
        if self.images:
            at = max((n for n, (role, _) in enumerate(sent) if role == "user"), default=len(sent) - 1)
            urls = (
                "data:image/jpeg;base64," + base64.b64encode(image).decode("ascii") for image in self.images
            )
            parts = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
            sent[at] = (sent[at][0], [{"type": "text", "text": sent[at][1]}, *parts])
        return sent

    def key(self, model: str, host: str, form: str) -> str:
        """Return what a reply is kept under: a hash over model, host, messages, pictures and the form asked for."""
        images = [hashlib.sha256(image).hexdigest() for image in self.images]
        return hashlib.sha256(
            json.dumps([model, host, list(self.messages), images, form]).encode()
        ).hexdigest()

    def repaired(self, text: str) -> ModelRequest:
        """Return the request with a paragraph more; many chat templates refuse two user messages in a row."""
        *head, (role, last) = self.messages
        return replace(self, messages=[*head, (role, f"{last}\n\n{text}")])


class ChatReply:
    """A reply as it arrives.

    Text waits until `take`: what turns out to be thought before that is dropped.

    Attributes:
        text: what came, thoughts included.
        finish: why it ended, as the usual servers tell it, or "".
        begun: whether a part came, with or without text.
        shown: whether something of it was shown.
        partial: whether it answers a part of its prompt, of which the server had cut the rest.
        since: when the last part came, or the call began, in seconds of the event loop.
    """

    def __init__(self) -> None:
        self.begin(0.0)

    def begin(self, since: float) -> None:
        """Begin anew: a call is made at this time."""
        self.text = self.finish = ""
        self.since = since
        self._read = self._wrote = 0
        self._reader, self._given = ThoughtReader(), ""
        self.partial = False
        self.begun = self.shown = self._calls = self._counted = False

    def add(self, chunk: AIMessageChunk) -> None:
        """Take a part, or the whole of a reply that is not streamed."""
        part, used, ended = storable(str(chunk.text)[:LONGEST]), chunk.usage_metadata, chunk.response_metadata
        self.begun = True
        self.text += part
        self._calls |= bool(getattr(chunk, "tool_call_chunks", None) or chunk.tool_calls)
        self._counted = not part and (self._counted or bool(used))
        if used:  # the last number of those that count up, the only one of each kind elsewhere
            self._read, self._wrote = (
                max(self._read, used["input_tokens"]),
                max(self._wrote, used["output_tokens"]),
            )
        self.finish = self.finish or next((str(ended[name]) for name in _FINISH if ended.get(name)), "")
        self._given += self._reader.add(part)

    @property
    def waiting(self) -> str:
        """What is an answer of it and was not taken."""
        return self._given or self._reader.waiting

    @property
    def broke(self) -> bool:
        """Whether a thought was closed in it that had not been opened."""
        return self._reader.broke

    def take(self, ended: bool = False) -> str:
        """Return what may be shown of it and was not yet; from then on nothing waits."""
        given = self._given + (self._reader.rest() if ended else self._reader.release())
        self._given = ""
        return given

    @property
    def cut(self) -> bool:
        """Whether it ended at a limit of tokens."""
        return self.finish.lower().startswith(("length", "max_tokens"))

    @property
    def stopped(self) -> str:
        """Why a server stopped it within: what it says of a filter or an error, or ""."""
        return self.finish if _STOPPED.search(self.finish) else ""

    @property
    def failed(self) -> bool:
        """Whether the server stopped it because something failed, which may pass."""
        return _FAILED.search(self.finish) is not None

    @property
    def instead(self) -> str:
        """What came of a stream instead of a whole reply, or "".

        Some servers never say why a reply ended: it is whole where it ends as a sentence does, or its tokens
        were told.
        """
        if not self.text.strip() and (self._calls or not self.finish):
            return "called tools and wrote nothing" if self._calls else "sent a stream without a reply in it"
        whole = self.finish or self._counted or _WHOLE.search(self.text)
        return "" if whole else "sent a stream that ended within its reply"

    def usage(self, prompt: int) -> tuple[int, int]:
        """Return tokens in and out: as reported, else estimated; none for a call that failed before its first part."""
        return (self._read or prompt, self._wrote or tokens_of(self.text)) if self.begun else (0, 0)


def read_of(reply: ChatReply) -> int:
    """Return the tokens of the prompt that the server says to have read; 0 where it does not say."""
    return reply.usage(0)[0]


def can_be_shown(begun: str) -> bool:
    """Tell whether a reader of whole sentences may have something to show of a reply that begins so."""
    return len(begun) > _HELD or _ENDED.search(begun) is not None


def tokens_of(text: str) -> int:
    """Estimate tokens for servers that report none: four bytes each."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def without_thoughts(text: str) -> str:
    """Return what a whole reply answers, without what its model thought and without special tokens."""
    return answer_in(text[:LONGEST])


def read_label(text: str, labels: Sequence[str]) -> str | None:
    """Find the one label that a reply names, in any case, punctuation or sentence around it.

    Several labels in one reply are read as the one that stands alone on a line or after the last colon; a
    negated label ("not relevant") is not a label. Returns None when the reply does not settle on one.
    """
    text = without_thoughts(text)[:LONGEST].casefold()
    names = {_words(label.casefold()): label for label in labels}
    forms = "|".join(name.replace(" ", r"[\W_]+") for name in sorted(names, key=len, reverse=True))
    form = re.compile(rf"({_NEGATION})?(?<![^\W_])({forms})(?![^\W_])")
    named = {names[_words(m[2])] for m in form.finditer(text) if not m[1]}
    if len(named) > 1:
        alone = {names[w] for line in text.splitlines() if (w := _words(line.rpartition(":")[2])) in names}
        named = alone or named
    return named.pop() if len(named) == 1 else None


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text))
