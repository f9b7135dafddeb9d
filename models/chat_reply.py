"""Define the request to a chat model and its reply: pictures, text, tokens, thoughts, labels."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
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
"""Estimated tokens of one picture, about those of a picture of 1,024 pixels."""
LONGEST = 200_000
"""Most characters of a reply that are read."""

_FINISH = ("finish_reason", "stop_reason", "done_reason")
_FAILED = re.compile(
    r"abort|cancel|error|fail|time.?out|interrupt|network|overload|insufficient|malformed", re.I
)
_CUT = re.compile(
    r"\A(?:model_)?length|\Alimit|max_(?:\w+_)?tokens|token_?limit|context_(?:window|length)|truncat", re.I
)
"""Reasons of a reply that ended at a limit of tokens."""
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
"""Characters after which a first sentence is shown before its end."""
_ENDED = re.compile(r"[.!?…][\"'”’)\]】]*\s|[。！？]|\S\s*\n")
_WHOLE = re.compile(r"[.!?…。！？][\"'”’)\]】」』*\s]*(?:\[[\d, ]+\][.\s]*)*\Z")
"""The end of a whole text: the end of a sentence and its citations."""


@dataclass(frozen=True)
class ModelRequest:
    """A request to a chat model: messages with pictures (JPEG files), the calling node and its budget."""

    messages: Messages
    node: str
    meter: Meter
    images: Sequence[bytes] = ()
    bound: Any = None
    """The model bound to a schema, if the reply has to fit one."""

    @property
    def tokens(self) -> int:
        """Estimated tokens of the prompt."""
        texts = [text for _, text in self.messages]
        return tokens_of("".join(texts)) + len(self.images) * IMAGE_TOKENS

    @property
    def sent(self) -> list[Any]:
        """The messages, with the pictures as data URLs in the last message of the user."""
        sent: list[Any] = list(self.messages)
        if not self.images:
            return sent
        last = len(sent) - 1
        for index, (role, _) in enumerate(sent):
            if role == "user":
                last = index
        role, text = sent[last]
        parts: list[dict[str, Any]] = [{"type": "text", "text": text}]
        for image in self.images:
            url = "data:image/jpeg;base64," + base64.b64encode(image).decode("ascii")
            parts.append({"type": "image_url", "image_url": {"url": url}})
        sent[last] = (role, parts)
        return sent

    def key(self, model: str, host: str, form: str) -> str:
        """Return the cache key of a reply: a hash of model, host, messages, pictures and form."""
        images = [hashlib.sha256(image).hexdigest() for image in self.images]
        described = json.dumps([model, host, list(self.messages), images, form])
        return hashlib.sha256(described.encode()).hexdigest()

    def repaired(self, text: str) -> ModelRequest:
        """Add a paragraph to the last message: many chat templates refuse two user messages in a row."""
        *head, (role, last) = self.messages
        return replace(self, messages=[*head, (role, f"{last}\n\n{text}")])


class ChatReply:
    """A reply while it arrives.

    Text waits until `take`. Text that turns out to be a thought before that is dropped.

    Attributes:
        text: everything that arrived, with thoughts.
        finish: the reason of its end as the server states it, or "".
        begun: whether a part arrived, with or without text.
        shown: whether a part was shown to the user.
        partial: whether the server cut the prompt, so that the reply answers only a part of it.
        since: time of the last part, or of the begin of the call, in seconds of the event loop.
    """

    def __init__(self) -> None:
        self.begin(0.0)

    def begin(self, since: float) -> None:
        """Reset the reply for a call that starts at the time `since`."""
        self.text = self.finish = ""
        self.since = since
        self._read = self._wrote = 0
        self._reader, self._given = ThoughtReader(), ""
        self.partial = False
        self.begun = self.shown = self._calls = self._counted = False

    def add(self, chunk: AIMessageChunk) -> None:
        """Add a part, or the whole of a reply that is not streamed."""
        part, used, ended = storable(str(chunk.text)[:LONGEST]), chunk.usage_metadata, chunk.response_metadata
        self.begun = True
        self.text += part
        self._calls |= bool(getattr(chunk, "tool_call_chunks", None) or chunk.tool_calls)
        self._counted = not part and (self._counted or bool(used))
        if used:  # Some servers count up with each part, others report each number once.
            self._read = max(self._read, used["input_tokens"])
            self._wrote = max(self._wrote, used["output_tokens"])
        for name in _FINISH:
            if not self.finish and ended.get(name):
                self.finish = str(ended[name])
        self._given += self._reader.add(part)

    @property
    def waiting(self) -> str:
        """The text of the answer that was not taken yet."""
        return self._given or self._reader.waiting

    @property
    def broke(self) -> bool:
        """Whether a tag closed a thought that no tag had opened."""
        return self._reader.broke

    def take(self, ended: bool = False) -> str:
        """Return the text that may be shown and was not shown yet; later text does not wait."""
        given = self._given + (self._reader.rest() if ended else self._reader.release())
        self._given = ""
        return given

    @property
    def cut(self) -> bool:
        """Whether the reply ended at a limit of tokens."""
        return _CUT.search(self.finish) is not None

    @property
    def stopped(self) -> str:
        """The reason why a server stopped the reply early, such as a filter or an error, or ""."""
        return self.finish if _STOPPED.search(self.finish) else ""

    @property
    def failed(self) -> bool:
        """Whether the server stopped the reply because of a failure that may be transient."""
        return _FAILED.search(self.finish) is not None

    @property
    def instead(self) -> str:
        """A description of what the stream held instead of a whole reply, or "".

        Some servers never state why a reply ended. Such a reply is whole if it ends like a sentence, or if
        the server reported its tokens.
        """
        if not self.text.strip():
            if self._calls:
                return "called tools and wrote nothing"
            if not self.finish:
                return "sent a stream without a reply in it"
        whole = self.finish or self._counted or _WHOLE.search(self.text)
        return "" if whole else "sent a stream that ended within its reply"

    def usage(self, prompt: int) -> tuple[int, int]:
        """Return input and output tokens, reported or estimated; (0, 0) if no part arrived."""
        if not self.begun:
            return 0, 0
        return self._read or prompt, self._wrote or tokens_of(self.text)


def read_of(reply: ChatReply) -> int:
    """Return the tokens of the prompt that the server reports to have read; 0 if it reports none."""
    return reply.usage(0)[0]


def can_be_shown(begun: str) -> bool:
    """Return whether the beginning of a reply holds a whole sentence or is too long to wait for one."""
    return len(begun) > _HELD or _ENDED.search(begun) is not None


def tokens_of(text: str) -> int:
    """Estimate the tokens of a text: four bytes each."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def without_thoughts(text: str) -> str:
    """Return the answer in a whole reply, without thoughts and special tokens."""
    return answer_in(text[:LONGEST])


def read_label(text: str, labels: Sequence[str]) -> str | None:
    """Find the one label that a reply names, in any case and with any punctuation or sentence around it.

    If a reply names several labels, the one that is alone on a line or after the last colon counts. A negated
    label ("not relevant") does not count. Returns None if no single label remains.
    """
    text = without_thoughts(text)[:LONGEST].casefold()
    names = {_words(label.casefold()): label for label in labels}
    longest_first = sorted(names, key=len, reverse=True)
    forms = "|".join(longest_first).replace(" ", r"[\W_]+")
    form = re.compile(rf"({_NEGATION})?(?<![^\W_])({forms})(?![^\W_])")
    named: set[str] = set()
    for m in form.finditer(text):
        if not m[1]:
            named.add(names[_words(m[2])])
    if len(named) > 1:
        named = _alone_on_a_line(text, names) or named
    return named.pop() if len(named) == 1 else None


def _alone_on_a_line(text: str, names: Mapping[str, str]) -> set[str]:
    """Return the labels that are alone on a line, or after the last colon of a line."""
    found: set[str] = set()
    for line in text.splitlines():
        words = _words(line.rpartition(":")[2])
        if words in names:
            found.add(names[words])
    return found


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text))
