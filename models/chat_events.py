"""Read the stream of a chat model as plain events, with OpenAI's client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class PlainCompletions:
    """The chat completions of OpenAI's client for `ChatOpenAI`, which reads events as dicts as well.

    The client would build objects of each request and of each event, and `ChatOpenAI` would turn them into
    dicts again: half of the processor time of a call.
    """

    def __init__(self, client: AsyncOpenAI) -> None:
        self._client = client

    async def create(self, *, stream: bool = False, extra_body: Any = None, **body: Any) -> Any:
        """Request a completion; a stream yields the events that the server sends, unchecked.

        Raises:
            openai.OpenAIError: the request failed.
        """
        if not stream:
            return await self._client.chat.completions.create(extra_body=extra_body, **body)
        return await self._client.post(
            "/chat/completions",
            cast_to=object,
            body={**body, "stream": True, **(extra_body or {})},
            options={"security": {"bearer_auth": True}},
            stream=True,
            stream_cls=_first_choices(),
        )

    def __getattr__(self, name: str) -> Any:
        """Return any other method of the client's completions."""
        return getattr(self._client.chat.completions, name)


@cache
def _first_choices() -> Any:
    """Return a class of the client's streams that yields the parts of the first choice only."""
    from openai import AsyncStream

    class FirstChoices(AsyncStream[object]):
        async def __aiter__(self) -> AsyncIterator[object]:
            first: Any = None
            event: Any
            async for event in super().__aiter__():
                choices = event.get("choices") if isinstance(event, dict) else None
                if isinstance(choices, list) and choices:
                    if first is None:
                        first = _index(choices[0])
                    event = {**event, "choices": [c for c in choices if _index(c) == first]}
                yield event

    return FirstChoices


def _index(choice: Any) -> Any:
    """Return the number of a choice of a reply; some servers leave it out."""
    return choice.get("index", 0) if isinstance(choice, dict) else 0
