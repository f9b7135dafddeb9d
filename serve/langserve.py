"""Serve every graph under /langserve/<graph>/, for `RemoteRunnable` and the playground.

The graph does not inherit the callbacks of a request: streams have its typed events and none of its inner
state.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import aclosing, nullcontext
from functools import partial
from typing import Any, Literal, TypeVar

from fastapi import FastAPI, Request, Response
from langchain_core.callbacks import AsyncCallbackManagerForChainRun as Manager
from langchain_core.callbacks import adispatch_custom_event
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import get_config_list, patch_config, var_child_runnable_config
from langchain_core.runnables.utils import ConfigurableFieldSpec
from langserve import add_routes
from langserve.server import EndpointName
from pydantic import Field, ValidationError, model_validator
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragweave.components.attachments import MOST, asked_with
from ragweave.components.context import Context
from ragweave.components.run_context import has_writer_model
from ragweave.graphs import run as graphs
from ragweave.models.errors import InputError, RagweaveError
from ragweave.serve import batch, problems
from ragweave.serve.access import Caller, library_for
from ragweave.serve.app_state import Body
from ragweave.serve.attached import Sender
from ragweave.serve.chat_request import ParsedConversation, conversation, literal
from ragweave.serve.direct import Events, answering, context_of, noted, unless_left
from ragweave.serve.langserve_config import CALLER, PLACES, REQUEST, THREAD, form_fields, set_by, with_caller
from ragweave.serve.langserve_wire import answer_on_wire, event_on_wire
from ragweave.serve.late import Made
from ragweave.serve.pictures import PictureDesk
from ragweave.serve.problems import problem
from ragweave.serve.remembered import RememberedThreads
from ragweave.serve.slots import Slots
from ragweave.serve.tools import answer_of

T = TypeVar("T")

_ENDPOINTS: tuple[EndpointName, ...] = (
    "invoke", "batch", "stream", "stream_events", "stream_log", "playground",
    "input_schema", "output_schema", "config_schema",
)  # fmt: skip
_PLAYGROUND_CSP = (
    "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""Policy of the playground, whose page has an inline script and compiles the schemas of its forms."""
_QUESTION_FIRST = b"\nh1 + div { order: 1 }\n"
"""Style that moves the form of the knobs, which follows the heading, below the question."""


class EarlierMessage(Body):
    """One earlier message."""

    role: Literal["user", "assistant"]
    content: str


class LangServeInput(Body):
    """A question with its history; or messages, as the graphs take them, the last one being the question."""

    question: str = Field("", description="What you want to know.")
    history: list[EarlierMessage] = Field(default_factory=list, description="The conversation so far.")
    pictures: list[str] = Field(
        default_factory=list,
        max_length=MOST,
        description="Pictures that belong to the question, as data URLs.",
    )
    messages: list[Any] = Field(
        default_factory=list, description="Instead of both: messages of LangChain or OpenAI."
    )

    @model_validator(mode="after")
    def _either(self) -> LangServeInput:
        both = bool(self.question and self.messages)
        neither = not self.model_fields_set & {"question", "messages"}
        if both or neither:
            raise ValueError("send a question or messages, one of them")
        return self


class ServedGraph(Runnable[Any, dict[str, Any]]):
    """One graph of Ragweave.

    `invoke` and `batch` return the answer. `stream` yields the events of the run: steps when they end,
    sentences as they are written, their marks, and last the whole answer. `astream_events` has these events
    as custom events named by their types. The knobs of `ragweave.Context` are fields of the configurable.
    """

    def __init__(self, graph: str, slots: Slots, pictures: PictureDesk, threads: RememberedThreads) -> None:
        self.name = self.graph = graph
        self._slots, self._pictures, self._threads = slots, pictures, threads

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """The knobs with their defaults, for the form; a knob that is left empty keeps its default."""
        return form_fields()

    @property
    def InputType(self) -> type[LangServeInput]:
        """The type of the input."""
        return LangServeInput

    @property
    def OutputType(self) -> type[dict[str, Any]]:
        """The type of the output."""
        return dict[str, Any]

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any]:
        """Return the answer, outside of a running event loop."""
        return asyncio.run(self.ainvoke(input, config, **kwargs))

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Return the answer."""
        return await _while_connected(config, self._acall_with_config(self._answer, input, config))

    async def abatch(
        self,
        inputs: list[Any],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[dict[str, Any]]:
        """Return the answers; several run at once, and if one fails the others are cancelled."""
        configs = get_config_list(config, len(inputs))
        width = batch.AT_ONCE if configs else 1
        answers = []
        for one_input, one_config in zip(inputs, configs, strict=True):
            width = min(width, set_by(one_config).get(PLACES, batch.AT_ONCE))
            answers.append(partial(self._acall_with_config, self._when_free, one_input, one_config))
        together = batch.together(answers, width, return_exceptions)
        return await _while_connected(configs[0] if configs else None, together)

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[dict[str, Any]]:
        """Yield the events of the run; a run that fails ends with an `error` event."""

        async def once() -> AsyncIterator[Any]:
            yield input

        async for event in self._atransform_stream_with_config(once(), self._events, config):
            yield event

    async def _answer(self, input: Any, run_manager: Manager, config: RunnableConfig) -> dict[str, Any]:
        return answer_on_wire(await answer_of(self._run(input, config)))

    async def _when_free(self, input: Any, run_manager: Manager, config: RunnableConfig) -> dict[str, Any]:
        return await batch.when_free(partial(self._answer, input, run_manager, config), self._slots.seconds)

    async def _events(
        self, inputs: AsyncIterator[Any], run_manager: Manager, config: RunnableConfig
    ) -> AsyncIterator[dict[str, Any]]:
        own = patch_config(config, callbacks=run_manager.get_child())
        async for input in inputs:
            try:
                async with aclosing(self._run(input, config)) as run:
                    async for event in run:
                        sent = event_on_wire(event)
                        if sent["type"] != "answer":
                            await adispatch_custom_event(sent["type"], sent, config=own)
                        yield sent
            except RagweaveError as error:
                yield {"type": "error", "problem": problem(error)}

    async def _run(self, input: Any, config: RunnableConfig) -> Events:
        # The graph does not inherit the callbacks of the request: its inner state stays in the server.
        var_child_runnable_config.set(None)
        configurable = set_by(config)
        caller = configurable.get(CALLER)
        if not isinstance(caller, Caller):
            caller = Caller("nobody", frozenset())
        knobs = _known_knobs(configurable)
        library = await library_for(caller, knobs.get("library"))
        request = LangServeInput.model_validate(input)
        context = context_of(knobs, library)
        sender = Sender(caller.id, context.web == "auto")
        said = await self._said(request, has_writer_model(context), sender)
        *before, last = said.messages
        if request.pictures:
            last = asked_with(last.text, await self._pictures.read(request.pictures))
        thread_id = configurable.get(THREAD)
        thread = (caller.id, library.id, thread_id)
        if thread_id and not before:
            before = self._threads.earlier(thread)
        run = answering(self._slots, library, [*before, last], self.graph, knobs, said.files)
        run = noted(run, said.notes)
        async with aclosing(run):
            async for event in run:
                if event["type"] == "answer" and thread_id:
                    self._threads.add(thread, last.text, event["answer"]["text"])
                yield event

    async def _said(self, request: LangServeInput, named: bool, sender: Sender) -> ParsedConversation:
        """Return the conversation of a request."""
        if request.messages:
            return await conversation(request.messages, self._pictures, named=named, sender=sender)
        history = [(message.role, message.content) for message in request.history]
        return literal(request.question, history)


def _known_knobs(configurable: dict[str, Any]) -> dict[str, Any]:
    """Return the knobs among the entries of a configurable, without those that are empty."""
    knobs = {}
    for name, value in configurable.items():
        if name in Context.model_fields and value not in (None, ""):
            knobs[name] = value
    return knobs


def sub_app(slots: Slots, pictures: PictureDesk) -> Made:
    """Return the app that serves every graph."""
    served = FastAPI(title="Ragweave over LangServe", docs_url=None, redoc_url=None, openapi_url=None)
    problems.install(served)
    # LangServe reads the body itself, and the parts of a batch.
    for kind in (UnicodeDecodeError, ValidationError, TypeError, RecursionError):
        served.add_exception_handler(kind, _unreadable)
    threads = RememberedThreads()
    for name in graphs.GRAPHS:
        graph = ServedGraph(name, slots, pictures, threads)
        add_routes(
            served, graph, path=f"/{name}", enabled_endpoints=_ENDPOINTS, per_req_config_modifier=with_caller
        )
    served.add_middleware(_Playground)
    return served, nullcontext()


async def _while_connected(config: RunnableConfig | None, work: Awaitable[T]) -> T:
    """Wait for whole answers, and cancel the work if the client disconnects."""
    request = set_by(config).get(REQUEST)
    return await unless_left(request, work) if isinstance(request, Request) else await work


async def _unreadable(request: Request, error: Exception) -> Response:
    """Return the response to a body that cannot be read; raise errors that have other causes."""
    of_null_config = str(error).startswith("Expected a string, dict")
    if isinstance(error, TypeError) and not of_null_config:
        raise error
    if isinstance(error, RecursionError) and type(error) is not RecursionError:  # raised by a graph
        raise error
    found: RagweaveError = InputError("the body is not valid JSON", "send one JSON object")
    if isinstance(error, RecursionError):
        found = problems.too_deep()
    elif isinstance(error, ValidationError):
        first = error.errors()[0]
        found = problems.invalid(first["loc"], first["msg"])
    return problems.response(found, str(getattr(request.state, "request_id", "")))


class _Playground:
    """Middleware that sets the playground's security policy and moves the question above the knobs."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the policy to responses of the playground, and the order to its style sheet."""
        path = scope.get("path", "")
        more = _QUESTION_FIRST if path.endswith(".css") else b""

        async def changed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = _PLAYGROUND_CSP
                if "content-length" in headers:
                    headers["Content-Length"] = str(int(headers["content-length"]) + len(more))
            elif not message.get("more_body", False):
                message = {**message, "body": message.get("body", b"") + more}
            await send(message)

        await self._app(scope, receive, changed if "/playground" in path else send)
