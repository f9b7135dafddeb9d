"""LangServe: every graph under /langserve/<graph>/, for `RemoteRunnable` and the playground.

The graph runs apart from the callbacks of a request: streams hold its typed events and nothing of its inner
state.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import aclosing, nullcontext
from difflib import get_close_matches
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

from fastapi import FastAPI, Request, Response
from langchain_core.callbacks import AsyncCallbackManagerForChainRun as Manager
from langchain_core.callbacks import adispatch_custom_event
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import get_config_list, patch_config, var_child_runnable_config
from langchain_core.runnables.utils import ConfigurableFieldSpec
from langserve import add_routes
from langserve.server import EndpointName
from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError, WithJsonSchema, model_validator
from pydantic.fields import FieldInfo
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragweave.components.attachments import MOST, asked_with
from ragweave.components.context import Context
from ragweave.components.run_settings import run_settings
from ragweave.graphs import run as graphs
from ragweave.models.errors import InputError, RagweaveError
from ragweave.serve import batch, problems
from ragweave.serve.access import Caller, library_for
from ragweave.serve.app_state import Body
from ragweave.serve.attached import Sender
from ragweave.serve.direct import (
    Events,
    answering,
    context_of,
    files_of,
    messages_of,
    noted,
    pictures_of,
    unless_left,
)
from ragweave.serve.langserve_wire import answer_on_wire, event_on_wire
from ragweave.serve.late import Made
from ragweave.serve.pictures import PictureDesk
from ragweave.serve.problems import problem
from ragweave.serve.remembered import LONGEST_ID, RememberedThreads
from ragweave.serve.slots import Slots
from ragweave.serve.tools import answer_of

T = TypeVar("T")

CALLER = "ragweave_caller"
"""Entry of the configurable in which the server, and nobody else, says who asks."""
PLACES = "ragweave_places"
"""Entry of the configurable in which the server says how many answers of a batch may be under way."""
REQUEST = "ragweave_request"
"""Entry of the configurable in which the server gives the request: who waits for a whole answer may go away."""
THREAD = "ragweave_thread"
"""Entry of the configurable in which the server repeats the thread that the client named."""
_ALIKE = 0.75
"""How like a knob the name of another entry is that may be a slip; others belong to the client's own graph or chain."""
_ENDPOINTS: tuple[EndpointName, ...] = (
    "invoke", "batch", "stream", "stream_events", "stream_log", "playground",
    "input_schema", "output_schema", "config_schema",
)  # fmt: skip
_PLAYGROUND_CSP = (
    "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""The playground of LangServe writes its settings into a script of its page, and compiles the schemas of its forms."""
_QUESTION_FIRST = b"\nh1 + div { order: 1 }\n"
"""The heading is followed by the form of the knobs."""


class EarlierMessage(Body):
    """One earlier message."""

    role: Literal["user", "assistant"]
    content: str


class LangServeInput(Body):
    """A question and what was said before it; or messages, as the graphs take them, the last of them the question."""

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
        if self.messages if self.question else not self.model_fields_set & {"question", "messages"}:
            raise ValueError("send a question or messages, one of them")
        return self


def _form(name: str, field: FieldInfo) -> ConfigurableFieldSpec:
    """Return a knob as a form that knows no null can show it: what is not set is an empty text."""
    kind: Any = field.annotation
    if field.default is None:
        kind = Annotated[kind | str, WithJsonSchema({"type": "string"})]
    else:  # LangServe builds its own model of the form, and takes along what stands within the union alone
        unset = Annotated[kind | None, BeforeValidator(lambda value: None if value == "" else value)]
        kind = Annotated[unset | None, WithJsonSchema(TypeAdapter(kind).json_schema())]
    return ConfigurableFieldSpec(name, kind, name, field.description, _shown(name))


def _shown(name: str) -> Any:
    """Return what the form shows of a knob at first: what holds on this server where nobody says.

    Whoever sees the form may not know what libraries there are; without a name it is the usual one of who
    asks.
    """
    default = Context.model_fields[name].default
    return "" if default is None or name == "library" else run_settings().defaults.get(name, default)


class ServedGraph(Runnable[Any, dict[str, Any]]):
    """One graph of Ragweave.

    `invoke` and `batch` return the answer; `stream` yields the events of the run: steps as they end,
    sentences as they are written, their marks, and the answer, which is what they add up to. `astream_events`
    has the events of the run as custom events by their types. The knobs of `ragweave.Context` are fields of
    the configurable.
    """

    def __init__(self, graph: str, slots: Slots, pictures: PictureDesk, threads: RememberedThreads) -> None:
        self.name = self.graph = graph
        self._slots, self._pictures, self._threads = slots, pictures, threads

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """The knobs with their defaults, for the form; one that is left empty keeps its own."""
        # A method's settings are a group, which the form cannot draw; a preset names them.
        return [_form(name, field) for name, field in Context.model_fields.items() if name != "method"]

    @property
    def InputType(self) -> type[LangServeInput]:
        """What it takes."""
        return LangServeInput

    @property
    def OutputType(self) -> type[dict[str, Any]]:
        """What it gives."""
        return dict[str, Any]

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any]:
        """Answer, where no loop is running."""
        return asyncio.run(self.ainvoke(input, config, **kwargs))

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Return the answer."""
        return await _while_there(config, self._acall_with_config(self._answer, input, config))

    async def abatch(
        self,
        inputs: list[Any],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[dict[str, Any]]:
        """Return the answers; some at once, and where one fails the others are given up."""
        configs = get_config_list(config, len(inputs))
        places = [_set_by(of_one).get(PLACES, batch.AT_ONCE) for of_one in configs]
        pairs = zip(inputs, configs, strict=True)
        answers = [partial(self._acall_with_config, self._when_free, *pair) for pair in pairs]
        together = batch.together(answers, min(places, default=1), return_exceptions)
        return await _while_there(configs[0] if configs else None, together)

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[dict[str, Any]]:
        """Yield the events of the run; one that fails ends with an `error` event."""

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
                        told = event_on_wire(event)
                        if told["type"] != "answer":
                            await adispatch_custom_event(told["type"], told, config=own)
                        yield told
            except RagweaveError as error:
                yield {"type": "error", "problem": problem(error)}

    async def _run(self, input: Any, config: RunnableConfig) -> Events:
        # The graph runs apart from the callbacks of the request: its inner state stays in the server.
        var_child_runnable_config.set(None)
        given = dict(_set_by(config))
        caller = given.pop(CALLER, None)
        if not isinstance(caller, Caller):
            caller = Caller("nobody", frozenset())
        context = {k: v for k, v in given.items() if k in Context.model_fields and v not in (None, "")}
        library = await library_for(caller, context.get("library"))
        asked = LangServeInput.model_validate(input)
        said = [*((s.role, s.content) for s in asked.history), ("user", asked.question)]
        *before, last = messages_of(asked.messages or said)
        thread = (caller.id, library.id, given.get(THREAD))
        if thread[-1] and not before:
            before = self._threads.earlier(thread)
        pictures = await self._pictures.read(asked.pictures or pictures_of(last))
        messages = [*before, asked_with(last.text, pictures)]
        notes = list[str]()
        sender = Sender(caller.id, context_of(context, library).web == "auto")
        sent = await self._pictures.files.with_content(files_of([*before, last]), sender, notes)
        read = await self._pictures.files.read(sent)
        run = answering(self._slots, library, messages, self.graph, context, read.files)
        run = noted(run, [*notes, *read.notes])
        async with aclosing(run):
            async for event in run:
                if event["type"] == "answer" and thread[-1]:
                    self._threads.add(thread, last.text, event["answer"]["text"])
                yield event


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


async def _while_there(config: RunnableConfig | None, work: Awaitable[T]) -> T:
    """Wait for whole answers, and stop working on them when the client goes away."""
    request = _set_by(config).get(REQUEST)
    return await unless_left(request, work) if isinstance(request, Request) else await work


async def _unreadable(request: Request, error: Exception) -> Response:
    if isinstance(error, TypeError) and not str(error).startswith(
        "Expected a string, dict"
    ):  # of a config of null
        raise error
    if isinstance(error, RecursionError) and type(error) is not RecursionError:  # of a graph
        raise error
    found: RagweaveError = InputError("the body is not valid JSON", "send one JSON object")
    if isinstance(error, RecursionError):
        found = problems.too_deep()
    elif isinstance(error, ValidationError):
        first = error.errors()[0]
        found = problems.invalid(first["loc"], first["msg"])
    return problems.response(found, str(getattr(request.state, "request_id", "")))


async def with_caller(config: dict[str, Any], request: Request) -> dict[str, Any]:
    """Say who asks, and leave out what LangServe filled in; what a client wrote in that place is overwritten.

    A thread that the client names is gone on with. Other entries belong to the graph or chain that the client
    runs, and mean nothing here.

    Raises:
        InputError: the request sets what is no knob and looks like one; or a batch of nothing, or of too
            much.
    """
    body = await request.json() if request.method == "POST" else {}
    inputs = body.get("inputs", [])
    if not isinstance(inputs, list):
        raise problems.invalid(("inputs",), "Input should be a list")
    batch.check(inputs)
    sent = body.get("config")
    for one in sent if isinstance(sent, list) else [sent]:
        for name in _set_by(one):
            if name not in Context.model_fields and get_close_matches(name, Context.model_fields, 1, _ALIKE):
                Context.model_validate({name: None})
    if isinstance(sent, list):  # of a batch: this is called for one after the other
        at = getattr(request.state, "configs", 0)
        sent, request.state.configs = sent[at], at + 1
    knobs = {name: value for name, value in _set_by(config).items() if name in _set_by(sent)}
    if (
        "origin" in request.headers
    ):  # the playground sends its whole form: what stands there as it was shown is not set
        knobs = {name: value for name, value in knobs.items() if value != _shown(name)}
    ours = {
        CALLER: request.state.caller,
        PLACES: batch.at_once(sent),
        REQUEST: request,
        THREAD: _thread_of(sent),
    }
    return {**config, "configurable": {**knobs, **ours}}


def _thread_of(sent: Any) -> str:
    """Return the thread that a client names, or "".

    Raises:
        InputError: its id is no short text.
    """
    named = _set_by(sent).get("thread_id") or ""
    if not isinstance(named, str | int) or len(str(named)) > LONGEST_ID:
        raise problems.invalid(
            ("config", "configurable", "thread_id"), f"must have {LONGEST_ID} characters at most"
        )
    return str(named)


def _set_by(config: Any) -> dict[str, Any]:
    """Return the configurable of a config; a client may send none of either."""
    return (config or {}).get("configurable") or {}


class _Playground:
    """Lets the page of the playground do what it needs, and puts the question above the knobs."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the policy to what the playground is sent, and the order to its style sheet."""
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
