"""LangServe: every graph under /langserve/<graph>/, for `RemoteRunnable` and the playground.

The `/stream_log` of LangServe is off: it sends the inner state of a run as serialised objects. The playground knows no
other way to run a graph, so an address of that name sends it the answer and the steps, as the patches it reads.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from langserve import add_routes
from langserve.server import EndpointName
from pydantic import BaseModel, Field, ValidationError
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragweave.graphs import run as graphs
from ragweave.serve import problems
from ragweave.serve.access import Slots
from ragweave.serve.served import CALLER, Asked, ServedGraph
from ragweave.serve.settings import ServeSettings

_ENDPOINTS: tuple[EndpointName, ...] = (
    "invoke",
    "batch",
    "stream",
    "stream_events",
    "playground",
    "input_schema",
    "output_schema",
    "config_schema",
)
_PLAYGROUND_CSP = (
    "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""The playground of LangServe writes its settings into a script of its page, and compiles the schemas of its forms."""


class _Playground(BaseModel):
    """What the playground sends."""

    input: Asked
    config: dict[str, Any] = Field(default_factory=dict)


def mount(app: FastAPI, slots: Slots, settings: ServeSettings) -> None:
    """Put every graph into an app, as a sub-app of its own."""
    served = FastAPI(title="Ragweave over LangServe", docs_url=None, redoc_url=None, openapi_url=None)
    problems.install(served)
    for name in graphs.GRAPHS:
        graph = ServedGraph(name, slots, settings.run_seconds)
        # Before the routes of LangServe, which would answer first.
        served.post(f"/{name}/stream_log")(_for_playground(graph))
        served.post(f"/{name}/c/{{config_hash}}/stream_log")(_for_playground(graph))
        add_routes(served, graph, path=f"/{name}", enabled_endpoints=_ENDPOINTS, per_req_config_modifier=with_caller)
    served.add_middleware(_PlaygroundPolicy)
    app.mount("/langserve", served)


def with_caller(config: dict[str, Any], request: Request) -> dict[str, Any]:
    """Say who asks; what a client wrote in that place is overwritten."""
    return {**config, "configurable": {**(config.get("configurable") or {}), CALLER: request.state.caller}}


class _PlaygroundPolicy:
    """Lets the page of the playground do what it needs."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the policy to what the playground is sent."""

        async def with_policy(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Content-Security-Policy"] = _PLAYGROUND_CSP
            await send(message)

        await self._app(scope, receive, with_policy if "/playground" in scope.get("path", "") else send)


def _for_playground(graph: ServedGraph) -> Callable[[Request], Any]:
    async def stream(request: Request) -> EventSourceResponse:
        try:
            sent = _Playground.model_validate_json(await request.body())
        except ValidationError as error:
            raise RequestValidationError(error.errors()) from None
        config: Any = with_caller({"configurable": sent.config.get("configurable")}, request)

        async def patches() -> AsyncIterator[ServerSentEvent]:
            start: dict[str, Any] = {"id": "", "streamed_output": [], "final_output": None, "logs": {}}
            yield _patch("replace", "", start)
            async for event in graph.astream(sent.input, config):
                for op in _ops(event):
                    yield _patch(*op)
            yield ServerSentEvent(event="end")

        return EventSourceResponse(patches(), sep="\n")

    return stream


def _patch(op: str, path: str, value: Any) -> ServerSentEvent:
    return ServerSentEvent(json.dumps({"ops": [{"op": op, "path": path, "value": value}]}, default=str), event="data")


def _ops(event: dict[str, Any]) -> list[tuple[str, str, Any]]:
    """Return an event as patches of the object that the playground shows."""
    if event["type"] == "step":
        name = f"{event['node']} {event['hop']}"
        return [("add", f"/logs/{name}", {"id": name, "name": event["title"], "final_output": event["summary"]})]
    if event["type"] == "answer":
        answer = event["answer"]
        places = [f"[{c['n']}] {c['title']}" for c in answer["citations"]]
        text = "\n".join([answer["text"], "", *places, *answer["notes"]]).strip()
        return [("add", "/streamed_output/-", text), ("replace", "/final_output", answer)]
    if event["type"] == "error":
        return [("add", "/streamed_output/-", event["problem"]["detail"])]
    return []
