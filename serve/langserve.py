"""LangServe: every graph under /langserve/<graph>/, for `RemoteRunnable` and the playground.

The graph runs apart from the callbacks of a request: streams hold its typed events and nothing of its inner state.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from langserve import add_routes
from langserve.server import EndpointName
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragweave.graphs import run as graphs
from ragweave.serve import problems
from ragweave.serve.access import Slots
from ragweave.serve.served import CALLER, ServedGraph
from ragweave.serve.settings import ServeSettings

_ENDPOINTS: tuple[EndpointName, ...] = (
    "invoke",
    "batch",
    "stream",
    "stream_events",
    "stream_log",
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


def mount(app: FastAPI, slots: Slots, settings: ServeSettings) -> None:
    """Put every graph into an app, as a sub-app of its own."""
    served = FastAPI(title="Ragweave over LangServe", docs_url=None, redoc_url=None, openapi_url=None)
    problems.install(served)
    for name in graphs.GRAPHS:
        graph = ServedGraph(name, slots, settings.run_seconds)
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
