"""Keep the prompts of a chat model within its context window."""

from __future__ import annotations

import time
from dataclasses import replace

from ragweave.models.chat_client import Served, stay_here
from ragweave.models.chat_reply import ChatReply, ModelRequest, read_of, tokens_of
from ragweave.models.context_window import ContextWindow, window_of
from ragweave.models.errors import PromptCut
from ragweave.models.prompt_fit import Fitted, fitted
from ragweave.models.text import counted

_BYTES = 4
"""Bytes of an estimated token."""
LONGER = "use a model with a longer context, or lower top_k, strips and max_hops"
_HELD = 10.0
"""Most seconds for which a reply waits while it is not known whether the server read the whole prompt."""


class PromptRoom:
    """The room for prompts of one chat model.

    Args:
        name: name of the model.
        host: host of its server.
        at: the served model; None for an injected model, whose context is not known.
        most: most tokens of a reply.
        context: context size in the settings for prompt and reply; 0 if it is not set.
    """

    def __init__(self, name: str, host: str, at: Served | None, most: int, context: int = 0) -> None:
        self._name, self._host, self._at, self._most = name, host, at, most
        known = at is not None and (at.url or at.provider == "gguf")
        self._window = window_of(at.url, at.name, context) if at is not None and known else ContextWindow()

    @property
    def reply_tokens(self) -> int:
        """Most tokens of a reply."""
        return self._window.reply(self._most)

    def trusted(self, asked: ModelRequest, since: float) -> bool:
        """Return whether the reply may be shown before its end.

        It may if the server seems to read the whole prompt. A reply that is not trusted waits for some
        seconds at most after the time `since` (`time.monotonic`).
        """
        doubtful = self._at is not None and self._at.url and self._window.doubtful(asked.tokens)
        return not doubtful or time.monotonic() > since + _HELD

    async def tokens(self, wanted: int) -> int:
        """Return the most estimated tokens of a prompt that would have `wanted`; 0 if it is not known."""
        await self._learn(wanted)
        return self._window.room(self._most)

    async def fit(self, asked: ModelRequest) -> ModelRequest:
        """Return a request that fits the known context; a note reports the cut once per run."""
        await self._learn(asked.tokens)
        room = self._window.room(self._most)
        if not room or asked.tokens <= room:
            return asked
        texts = [text for _, text in asked.messages]
        pictures = asked.tokens - tokens_of("".join(texts))
        cut = fitted(asked.messages, _BYTES * max(0, room - pictures))
        if cut.left or cut.shortened:
            asked.meter.tell(f"window {self._name}", self._note(cut))
        return replace(asked, messages=cut.messages)

    async def smaller(self, asked: ModelRequest, error: PromptCut) -> ModelRequest:
        """Return a shorter request after the server cut one.

        Raises:
            PromptCut: if nothing more can be left out.
        """
        smaller = await self.fit(asked)
        if smaller.tokens >= asked.tokens:
            raise error
        return smaller

    def check(self, reply: ChatReply, asked: ModelRequest) -> None:
        """Check whether the server read the whole prompt; a note reports a cut if the reply is shown already.

        Raises:
            PromptCut: if the server cut the prompt and nothing of the reply was shown.
        """
        sent, read = asked.tokens, read_of(reply)
        if self._at is None or asked.images or not self._window.cut(sent, read):
            return
        reply.partial = True
        if not reply.shown:
            raise PromptCut(
                f"{self._name} at {self._host} read {read:,} tokens of about {sent:,} of a prompt", LONGER
            )
        asked.meter.tell(
            f"cut {self._name}",
            f"{self._name} read only {read:,} of about {sent:,} tokens of a prompt: the answer rests on a"
            " part of what was found. The next prompt is cut to fit.",
        )

    def too_long(self, exc: Exception, asked: ModelRequest) -> PromptCut:
        """Return the error of a prompt that the server refused as too long, and learn from its message."""
        self._window.refused(asked.tokens, str(exc))
        return PromptCut(f"the prompt is longer than {self._name} at {self._host} can read", LONGER)

    async def _learn(self, tokens: int) -> None:
        if self._at is not None and self._at.url and self._window.doubtful(tokens):
            stay_here(f"{self._name} at {self._host}", self._host)
            await self._window.learn(self._at.url, self._at.name, self._at.key.get_secret_value())

    def _note(self, cut: Fitted) -> str:
        parts: list[str] = []
        if cut.left:
            parts.append(
                f"{cut.left} of {counted(cut.passages, 'passage')} left out, the least relevant first"
            )
        if cut.shortened:
            parts.append(f"{counted(cut.shortened, 'passage')} shortened")
        return (
            f"{self._name} reads {self._window.tokens:,} tokens at once, so a prompt was cut:"
            f" {' and '.join(parts)}."
        )
