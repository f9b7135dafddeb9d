"""Serve `/v1/responses` of the OpenAI API: the answers of chat completions, in the form of newer clients.

Clients send the whole conversation in `input`, or the id of the response that a request follows: the last
ones are held in memory. References to anything else that is stored are left out with a note. A request to
answer in the background is answered at once.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any, ClassVar

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ConfigDict, Field, ValidationError, field_validator
from sse_starlette import ServerSentEvent

from ragweave.models.errors import RagweaveError
from ragweave.serve.access import CallerNow
from ragweave.serve.app_state import AppStateNow, Body
from ragweave.serve.chat_completion import ChatCompletionWriter, usage_of
from ragweave.serve.chat_request import ChatRequest, Own
from ragweave.serve.direct import Events
from ragweave.serve.openai import Stored, reply
from ragweave.serve.problems import openai_error

router = APIRouter(prefix="/v1")


class ResponseRequest(Body):
    """One request. Sampling settings of the standard are accepted and do nothing."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field(max_length=400)
    input: str | list[Any] = Field(max_length=10_000_000)
    stream: bool | None = False
    previous_response_id: str | None = None
    store: bool | None = None
    conversation: Any = None
    prompt: Any = None
    tool_choice: Any = None
    text: Any = None
    ragweave: Own = Field(default_factory=Own)

    @field_validator("input", mode="before")
    @classmethod
    def _alone(cls, given: Any) -> Any:
        return [given] if isinstance(given, dict) else given


@router.post("/responses")
async def respond(
    caller: CallerNow, app_state: AppStateNow, request: Request, body: ResponseRequest
) -> Response:
    """Answer the last message of the input."""
    return await reply(caller, app_state, request, as_chat(body), Responder, _stored(body))


def _stored(body: ResponseRequest) -> Stored:
    """Return what a request refers to; stored conversations and prompts get a note."""
    named, notes = [], []
    if body.conversation:
        named.append("conversation")
    if body.prompt:
        named.append("prompt")
    if named:
        notes = [f"Not stored here, and not used: {', '.join(named)}. Send the whole conversation in input."]
    return Stored(body.previous_response_id or "", body.store is not False, notes)


def as_chat(body: ResponseRequest) -> ChatRequest:
    """Return the request in the form of chat completions.

    Raises:
        RequestValidationError: it is not valid; the errors name the fields of this request.
    """
    rows = [body.input] if isinstance(body.input, str) else body.input
    messages = []
    for row in rows:
        if not isinstance(row, dict):
            messages.append(row)
        elif row.get("type") != "reasoning":
            messages.append({"role": _role(row), "content": _content(row)})
    chat = {
        "model": body.model,
        "messages": messages,
        "stream": body.stream,
        "tool_choice": body.tool_choice,
        "response_format": body.text.get("format") if isinstance(body.text, dict) else None,
        "ragweave": body.ragweave,
    }
    try:
        return ChatRequest.model_validate(chat)
    except ValidationError as error:
        raise RequestValidationError(_renamed(error)) from error


def _renamed(error: ValidationError) -> list[dict[str, Any]]:
    """Return the errors of a chat request with the fields of the response request."""
    names = {"messages": "input", "response_format": "text"}
    renamed = []
    for one in error.errors():
        field, *rest = one["loc"]
        renamed.append({**one, "loc": ("body", names.get(str(field), field), *rest)})
    return renamed


def _role(row: dict[str, Any]) -> str:
    """Return the role of an input item; for one that is not a message, a role that is ignored later."""
    kind = str(row.get("type") or "message")
    if kind == "message":
        return str(row.get("role") or "")
    if kind.startswith("input_"):  # a part of a message without the message around it
        return "user"
    if kind.endswith("output"):
        return "tool"
    if "call" in kind:
        return "call"
    return kind[:100]


def _content(row: dict[str, Any]) -> Any:
    if str(row.get("type")).startswith("input_"):
        return [_part(row)]
    content = row.get("content", "")
    if not isinstance(content, list):
        return content
    return [_part(part) for part in content]


def _part(part: Any) -> Any:
    """Return a part in the form of chat completions."""
    kind = part.get("type") if isinstance(part, dict) else ""
    if kind in ("input_text", "output_text", "text"):
        return {"type": "text", "text": part.get("text") or ""}
    if kind == "input_image" and not part.get("image_url"):
        return {**part, "type": "input_file"}  # a stored picture: the words in it are read
    if kind == "input_image":
        return {"type": "image_url", "image_url": {"url": part.get("image_url") or ""}}
    return part


class Responder(ChatCompletionWriter):
    """Write the events of one run as a response."""

    names: ClassVar[Mapping[str, str]] = {"response_format": "text.format"}

    def __init__(self, request: ChatRequest, base: str) -> None:
        super().__init__(request, base)
        self._id, self._message_id = f"resp_{secrets.token_hex(12)}", f"msg_{secrets.token_hex(12)}"
        self._n = -1

    async def whole(self, events: Events) -> dict[str, Any]:
        """Return the whole response."""
        text = ""
        async for delta in self.deltas(events):
            text += delta.get("content") or ""
        return self._whole("completed", text)

    async def stream(self, first: dict[str, Any], rest: Events) -> AsyncIterator[ServerSentEvent]:
        """Yield the events of a streamed response."""
        text = first.get("content") or ""
        place = {"item_id": self._message_id, "output_index": 0, "content_index": 0}
        yield self._event("response.created", response=self._whole("in_progress"))
        yield self._event("response.in_progress", response=self._whole("in_progress"))
        empty = {**self._message("in_progress", ""), "content": []}
        yield self._event("response.output_item.added", output_index=0, item=empty)
        yield self._event("response.content_part.added", **place, part=self._part(""))
        try:
            async with aclosing(rest):
                async for delta in rest:
                    more = delta.get("content")
                    if more:
                        text += more
                        yield self._event("response.output_text.delta", **place, delta=more, logprobs=[])
        except RagweaveError as error:
            message = openai_error(error)["error"]["message"]
            failed = {**self._whole("failed"), "error": {"code": "server_error", "message": message}}
            yield self._event("response.failed", response=failed)
            return
        part = self._part(text)
        for n, annotation in enumerate(part["annotations"]):
            yield self._event(
                "response.output_text.annotation.added", **place, annotation_index=n, annotation=annotation
            )
        yield self._event("response.output_text.done", **place, text=text, logprobs=[])
        yield self._event("response.content_part.done", **place, part=part)
        yield self._event("response.output_item.done", output_index=0, item=self._message("completed", text))
        yield self._event("response.completed", response=self._whole("completed", text))

    def _event(self, kind: str, **members: Any) -> ServerSentEvent:
        self._n += 1
        return ServerSentEvent(
            json.dumps({"type": kind, "sequence_number": self._n, **members}), event=kind, sep="\n"
        )

    def _part(self, text: str) -> dict[str, Any]:
        cited = self.annotations() if self.answer else []
        flat = [{"type": "url_citation", **row["url_citation"]} for row in cited]
        return {"type": "output_text", "text": text, "annotations": flat, "logprobs": []}

    def _message(self, status: str, text: str) -> dict[str, Any]:
        head = {"type": "message", "id": self._message_id, "status": status, "role": "assistant"}
        return {**head, "content": [self._part(text)]}

    def _whole(self, status: str, text: str = "") -> dict[str, Any]:
        done = status == "completed"
        return {
            "id": self._id,
            "object": "response",
            "created_at": self._created,
            "status": status,
            "model": self._request.model,
            "output": [self._message(status, text)] if done else [],
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "parallel_tool_calls": False,
            "temperature": None,
            "top_p": None,
            "tool_choice": "none",
            "tools": [],
            "usage": _usage(self.answer) if done else None,
            "ragweave_marks": self.all_marks() if done else [],
        }


def _usage(answer: dict[str, Any]) -> dict[str, Any]:
    usage = usage_of(answer)
    return {
        "input_tokens": usage["prompt_tokens"],
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": usage["completion_tokens"],
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage["total_tokens"],
    }
