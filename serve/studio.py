"""Serve the sources of citations under /ragweave of `langgraph dev`, behind the guard.

Because Studio has another origin, that server lets pages of any origin read its responses. Here, the guard
refuses such requests of other origins; it allows following a link.
"""

from __future__ import annotations

import ipaddress
from functools import cache

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.stores import stay
from ragweave.serve import media, problems, routes_library, routes_page
from ragweave.serve.access import CallerNow, library_named
from ragweave.serve.guard import Guard
from ragweave.serve.keys import Keys
from ragweave.serve.problems import NotFound
from ragweave.serve.settings import serve_settings
from ragweave.serve.store import Store
from ragweave.serve.studio_knobs import KnownKnobs

PREFIX = "/ragweave"


async def open_source(
    caller: CallerNow,
    request: Request,
    library: str,
    id: str,
    start: float | None = None,
    end: float | None = None,
) -> RedirectResponse:
    """Redirect to the file of a citation in the browser's own viewer, at its page or second.

    `start` and `end` are those of the citation, which may be narrower than those of the clip.
    """
    row = await library_named(caller, library)
    item = await run_in_threadpool(routes_library.item_of, row, id)
    found = item["open"]
    if "media" not in found:
        raise NotFound("There is no file to open", "the citation quotes what it rests on")
    place = ""
    if found["view"] == "page":
        place = f"#page={found.get('page')}"
    elif found["view"] == "video":
        place = f"#t={start or found.get('start')},{end or found.get('end')}"
    return RedirectResponse(f"{request.scope['root_path']}{found['media']}{place}", status_code=303)


def _sources_app() -> FastAPI:
    """Return the app that serves libraries, sources and their files."""
    stay()
    inside = FastAPI(title="Ragweave beside Studio", docs_url=None, redoc_url=None, openapi_url=None)
    problems.install(inside)
    inside.include_router(media.router)
    for path, endpoint in (
        ("/healthz", routes_page.health),
        ("/readyz", routes_page.ready),
        ("/api/libraries", routes_library.list_libraries),
        ("/api/sources", routes_library.list_sources),
        ("/api/open/{library}/{id}", routes_library.item_to_open),
        ("/open/{library}/{id}", open_source),
    ):
        inside.add_api_route(path, endpoint, methods=["GET"])
    return inside


@cache
def _guarded(exposed: bool) -> ASGIApp:
    # Built at the first request, because an import must not open files.
    keys = Keys(Store(corpora_settings().home / "serve.sqlite"))
    return Guard(_sources_app(), serve_settings(), keys, exposed)


async def _guard(scope: Scope, receive: Receive, send: Send) -> None:
    """Pass a request through the guard, which requires a key from other machines."""
    guard = await run_in_threadpool(_guarded, not _is_local(scope))
    await guard(scope, receive, send)


def _is_local(scope: Scope) -> bool:
    """Return whether a request comes from this machine."""
    try:
        return ipaddress.ip_address((scope.get("client") or ("",))[0]).is_loopback
    except ValueError:
        return False


app = Starlette(routes=[Mount(PREFIX, app=_guard)], middleware=[Middleware(KnownKnobs)])
