"""What goes into one call of a chat model and what comes out: pictures, text, tokens, thoughts, labels."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragweave.models.text import storable

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage

Messages = Sequence[tuple[str, str]]
"""(role, text) pairs; roles are `system`, `user` and `assistant`."""

IMAGE_TOKENS = 1_000
"""What one picture is taken to cost before the server says: about what a picture of 1,024 pixels costs."""

_THOUGHT = re.compile(r"^\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S | re.I)
_WORD = re.compile(r"[^\W_]+")
_NEGATION = frozenset({"not", "no", "never", "isn", "aren", "wasn", "cannot", "neither", "nor", "t"})
_ARTICLES = frozenset({"a", "an", "the"})
LONGEST = 200_000
"""Characters of a reply that are read."""
_HELD = 1_000
"""Characters of a first sentence that are waited for."""
_ENDED = re.compile(r"[.!?…][\"'”’)\]】]*\s|[。！？]|\S\s*\n")
_WHOLE = re.compile(r"[.!?…。！？][\"'”’)\]】」』*\s]*(?:\[[\d, ]+\][.\s]*)*\Z")
"""How a text ends that is whole: with a sentence, and what it cites."""


class Call:
    """One call under way."""

    def __init__(self) -> None:
        self.reply: Any = None
        """The message, or None before it; of a stream the first part, with what later ones tell about usage and end."""
        self.text = ""
        self._calls = self._counted = False
        """Whether tools were called, and whether the number of tokens came behind the text."""

    def add(self, chunk: AIMessageChunk) -> str:
        """Take a part of a streamed reply and return its text."""
        part = text_of(chunk)
        self.text += part
        self._calls |= bool(chunk.tool_call_chunks)
        self._counted = not part and (self._counted or bool(chunk.usage_metadata))
        if self.reply is None:
            self.reply = chunk
        elif chunk.usage_metadata or finish_of(chunk):
            self.reply = self.reply + chunk
        return part

    def instead(self) -> str:
        """Return what came of a stream instead of a whole reply, or "".

        Some servers never say why a reply ended: it is whole where it ends as a sentence does, or its tokens were told.
        """
        if not self.text.strip() and (self._calls or not finish_of(self.reply)):
            return "called tools and wrote nothing" if self._calls else "sent a stream without a reply in it"
        whole = finish_of(self.reply) or self._counted or _WHOLE.search(self.text)
        return "" if whole else "sent a stream that ended within its reply"

    def usage(self, prompt: int) -> tuple[int, int]:
        """Return tokens in and out: as reported, else estimated; none for a call that failed before its first part.

        What is no number above 0 counts as not reported: it would lower what the run has spent.
        """
        if self.reply is None:
            return 0, 0
        told = getattr(self.reply, "usage_metadata", None) or {}
        used = (told.get("input_tokens"), prompt), (told.get("output_tokens"), tokens_of(self.text))
        read, wrote = (n if isinstance(n, int) and n > 0 else guess for n, guess in used)
        return read, wrote


async def invoke(bound: Any, messages: Sequence[Any]) -> AIMessage:
    """Call the model; a reply that OpenAI's client refuses because it was cut off is returned as far as it goes."""
    from langchain_core.messages import AIMessage
    from langchain_core.messages.ai import UsageMetadata

    try:
        reply: AIMessage = await bound.ainvoke(list(messages), config={"tags": ["nostream"]})
    except Exception as exc:
        cut = getattr(exc, "completion", None)
        if cut is None:
            raise
        used = cut.usage
        told = used and UsageMetadata(
            input_tokens=used.prompt_tokens, output_tokens=used.completion_tokens, total_tokens=used.total_tokens
        )
        ended = {"finish_reason": "length"}
        text = cut.choices[0].message.content or ""
        reply = AIMessage(content=text, usage_metadata=told or None, response_metadata=ended)
    return reply


def finish_of(reply: BaseMessage | None) -> str:
    """Return why a reply ended, as the usual servers tell it, or ""."""
    told = reply.response_metadata if reply is not None else {}
    return next((str(told[name]) for name in ("finish_reason", "stop_reason", "done_reason") if told.get(name)), "")


def is_cut(reply: BaseMessage | None) -> bool:
    """Tell whether a reply ended at a limit of tokens."""
    # Where several parts of a stream tell the end, it stands there several times: “lengthlength”.
    return finish_of(reply).lower().startswith(("length", "max_tokens"))


def text_of(message: BaseMessage) -> str:
    """Return the text of a message, so that it can be stored and printed."""
    return storable(str(message.text))


def can_be_shown(begun: str) -> bool:
    """Tell whether a reader of whole sentences may have something to show of a reply that begins so."""
    return len(begun) > _HELD or _ENDED.search(begun) is not None


def tokens_of(text: str) -> int:
    """Estimate tokens for servers that report none: four bytes each."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def add_to_last(messages: Messages, text: str) -> list[tuple[str, str]]:
    """Add a paragraph to the last message; many chat templates refuse two user messages in a row."""
    *head, (role, last) = messages
    return [*head, (role, f"{last}\n\n{text}")]


def with_images(messages: Messages, images: Sequence[bytes]) -> list[Any]:
    """Return messages with pictures, JPEG files, as data URLs in the last one of the user."""
    if not images:
        return list(messages)
    at = max((n for n, (role, _) in enumerate(messages) if role == "user"), default=len(messages) - 1)
    role, text = messages[at]
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}]
    urls = ("data:image/jpeg;base64," + base64.b64encode(image).decode("ascii") for image in images)
    parts += [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    return [*messages[:at], (role, parts), *messages[at + 1 :]]


def digest_of(images: Sequence[bytes]) -> str:
    """Return what tells pictures apart in the key of a kept reply; empty without pictures."""
    if not images:
        return ""
    return ":images:" + hashlib.sha256(b"".join(hashlib.sha256(i).digest() for i in images)).hexdigest()


def without_thoughts(text: str) -> str:
    """Drop the <think> block that reasoning models on local servers put before their reply."""
    return _THOUGHT.sub("", text, count=1).strip() if text.lstrip()[:6].lower() == "<think" else text.strip()


class ThoughtFilter:
    """The same for a stream: feed it parts, it returns what may be shown."""

    def __init__(self) -> None:
        self._held = ""
        self._open = False
        self._started = False

    def feed(self, part: str) -> str:
        """Return the text that became visible with this part."""
        if self._started:
            return part
        self._held += part
        head = self._held.lstrip().lower()
        if not self._open:
            if len(head) < 6 and "<think".startswith(head):
                return ""
            if not head.startswith("<think"):
                return self.rest()
            self._open = True
        end = re.search(r"</think(?:ing)?>\s*", self._held, re.I)
        # White space right after the block may still be arriving: wait for the first visible character.
        if end and end.end() < len(self._held):
            self._held = self._held[end.end() :]
            return self.rest()
        return ""

    def rest(self) -> str:
        """Return what is held back at the end of the stream."""
        self._started = True
        held, self._held = self._held, ""
        return without_thoughts(held) if self._open and held.lstrip()[:6].lower() == "<think" else held


def read_label(text: str, labels: Sequence[str]) -> str | None:
    """Find the one label that a reply names, in any case, punctuation or sentence around it.

    Several labels in one reply are read as the one that stands alone on a line or after the last colon; a negated
    label ("not relevant") is not a label. Returns None when the reply does not settle on one.
    """
    text = without_thoughts(text)[:LONGEST]
    forms = {tuple(_words(label)): label for label in labels}
    found = _named(text, forms)
    if len(found) > 1:
        alone = {forms[w] for line in text.splitlines() if (w := tuple(_words(line.rpartition(":")[2]))) in forms}
        found = alone or found
    return found.pop() if len(found) == 1 else None


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _named(text: str, forms: dict[tuple[str, ...], str]) -> set[str]:
    words = _words(text)
    found: set[str] = set()
    at = 0
    longest_first = sorted(forms, key=len, reverse=True)
    while at < len(words):
        form = next((f for f in longest_first if f and tuple(words[at : at + len(f)]) == f), None)
        if form is None:
            at += 1
            continue
        before = [w for w in words[max(0, at - 2) : at] if w not in _ARTICLES]
        if not (before and before[-1] in _NEGATION):
            found.add(forms[form])
        at += len(form)
    return found
