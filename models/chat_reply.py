"""One call of a chat model: its reply, the text in it, and the tokens it took."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage


class Call:
    """One call under way."""

    def __init__(self) -> None:
        self.reply: Any = None
        """The message, or None before it; of a stream the first part, with what later ones tell about usage and end."""
        self.text = ""

    def add(self, chunk: AIMessageChunk) -> str:
        """Take a part of a streamed reply and return its text."""
        part = text_of(chunk)
        self.text += part
        if self.reply is None:
            self.reply = chunk
        elif chunk.usage_metadata or chunk.response_metadata.get("finish_reason"):
            self.reply = self.reply + chunk
        return part

    def usage(self, prompt: int) -> tuple[int, int]:
        """Return tokens in and out: as reported, else estimated; none for a call that failed before its first part.

        Args:
            prompt: estimate of the prompt's tokens.
        """
        if self.reply is None:
            return 0, 0
        told = getattr(self.reply, "usage_metadata", None) or {}
        return told.get("input_tokens") or prompt, told.get("output_tokens") or tokens_of(self.text)


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
        reply = AIMessage(content=cut.choices[0].message.content or "", usage_metadata=told or None)
    return reply


def text_of(message: BaseMessage) -> str:
    """Return the text of a message, lone surrogates replaced so that it can be stored and printed."""
    return str(message.text).encode("utf-8", "replace").decode()


def tokens_of(text: str) -> int:
    """Estimate tokens for servers that report none: four bytes each."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def finished(reply: BaseMessage | None) -> bool:
    """Say whether a streamed reply came to its end: OpenAI-style servers close it with a finish reason."""
    return reply is not None and bool(reply.response_metadata.get("finish_reason"))
