"""Build the FastAPI app: the web app, its API, and the endpoints for chat apps, LangServe and MCP."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec

from fastapi import FastAPI
from starlette.routing import Route

from ragweave import __version__
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.stores import stay
from ragweave.models.errors import MissingExtra
from ragweave.serve import (
    media,
    metrics,
    openai,
    problems,
    responses,
    routes_ask,
    routes_files,
    routes_film,
    routes_library,
    routes_models,
    routes_overview,
    routes_page,
    routes_pdf,
    routes_setup,
    routes_uploads,
    routes_verdict,
)
from ragweave.serve.app_state import opened
from ragweave.serve.drain import drained
from ragweave.serve.guard import Guard
from ragweave.serve.kept_files import KeptFiles
from ragweave.serve.keys import Keys
from ragweave.serve.late import LateApp, Made
from ragweave.serve.pictures import PictureDesk
from ragweave.serve.settings import ServeSettings, serve_settings
from ragweave.serve.slots import Slots
from ragweave.serve.store import Store


def create_app(settings: ServeSettings | None = None, *, exposed: bool = False) -> FastAPI:
    """Return the server as an ASGI app.

    If it is `exposed` to other machines, every request needs an API key.
    """
    settings = settings or serve_settings()
    store = Store(corpora_settings().home / "serve.sqlite")
    keys = Keys(store)
    slots, pictures = Slots(settings.running, settings.run_seconds), PictureDesk(KeptFiles(store))
    graphs, assistants = LateApp(lambda: _langserve(slots, pictures)), LateApp(lambda: _mcp(slots, pictures))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        stay()
        async with opened(settings, store, slots, pictures) as app_state:
            app.state.app_state = app_state
            # Imported modules stay in memory; the garbage collector does not need to scan them each time.
            gc.freeze()
            with drained(app_state):
                yield
            await asyncio.gather(assistants.close(), graphs.close())

    app = FastAPI(title="Ragweave", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.keys = keys
    problems.install(app)
    parts = [media, openai, responses, routes_ask, routes_library, routes_models, routes_overview, routes_pdf]
    for part in [*parts, metrics, routes_files, routes_film, routes_setup, routes_uploads, routes_verdict]:
        app.include_router(part.router)
    app.include_router(routes_ask.plain)
    app.mount("/langserve", graphs)
    app.router.routes.append(Route("/mcp", assistants))
    routes_page.mount(app)
    app.add_middleware(Guard, settings=settings, keys=keys, exposed=exposed)
    return app


def _langserve(slots: Slots, pictures: PictureDesk) -> Made:
    if find_spec("langserve") is None:
        raise MissingExtra("The door /langserve", "langserve")
    from ragweave.serve.langserve import sub_app

    return sub_app(slots, pictures)


def _mcp(slots: Slots, pictures: PictureDesk) -> Made:
    from ragweave.serve.mcp import over_http

    return over_http(slots, pictures)
