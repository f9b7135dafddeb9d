"""What `langgraph dev` serves beside the graphs, under /ragweave: the sources that citations open, behind the guard.

That server lets pages of any origin read what it answers, because Studio is one. What they fetch from here is
refused; following a link is no such request.
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
    """Open the file that a citation rests on in the browser's own viewer: at its page, or at a second.

    `start` and `end` are those of the citation, which may be closer than those of the clip.
    """
    found = (await run_in_threadpool(routes_library.item_of, await library_named(caller, library), id))[
        "open"
    ]
    if "media" not in found:
        raise NotFound("There is no file to open", "the citation quotes what it rests on")
    place = {
        "page": f"#page={found.get('page')}",
        "video": f"#t={start or found.get('start')},{end or found.get('end')}",
    }.get(found["view"], "")
    return RedirectResponse(f"{request.scope['root_path']}{found['media']}{place}", status_code=303)


def _inside() -> FastAPI:
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
    # Made at the first request: what the server imports opens no file.
    keys = Keys(Store(corpora_settings().home / "serve.sqlite"))
    return Guard(_inside(), serve_settings(), keys, exposed)


async def _door(scope: Scope, receive: Receive, send: Send) -> None:
    """Let requests in; whoever asks from another machine needs a key, because this server may listen anywhere."""
    guard = await run_in_threadpool(_guarded, not _is_here(scope))
    await guard(scope, receive, send)


def _is_here(scope: Scope) -> bool:
    try:
        return ipaddress.ip_address((scope.get("client") or ("",))[0]).is_loopback
    except ValueError:
        return False


app = Starlette(routes=[Mount(PREFIX, app=_door)], middleware=[Middleware(KnownKnobs)])
