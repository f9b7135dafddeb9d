"""Serve the page with its files, health checks, and login."""

from __future__ import annotations

import asyncio
import hashlib
import json
import mimetypes
from functools import lru_cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse
from pydantic import Field
from starlette.staticfiles import StaticFiles

from ragweave import __version__
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.stores import stores
from ragweave.corpora.web import providers
from ragweave.models.promises import marks_promised
from ragweave.models.settings import model_settings
from ragweave.serve.access import CallerNow
from ragweave.serve.app_state import AppStateNow, Body
from ragweave.serve.guard import COOKIE, session_of
from ragweave.serve.http_cache import unless_held, without_vain_range
from ragweave.serve.keys import SESSION_SECONDS, Keys
from ragweave.serve.problems import NotFound, Refused

router = APIRouter()
mimetypes.add_type("application/manifest+json", ".webmanifest")

STATIC = Path(__file__).parent / "static"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self'"
    " blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; worker-src 'self'; manifest-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script';"
    " trusted-types dompurify ragweave"
)
"""The page may load files of this server only.

Only DOMPurify may turn text into markup, and only addresses in the list of `js/trusted.js` may be scripts.
"""


class Login(Body):
    """The key with which a browser logs in."""

    key: str = Field(min_length=1, max_length=200)


@router.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
async def page(request: Request) -> Response:
    """Return the page."""
    digest, _ = await asyncio.to_thread(_shell)
    headers = {"Content-Security-Policy": CSP, "Cache-Control": "no-cache", "X-Ragweave-Page": digest}
    without_vain_range(request)
    return unless_held(
        request, FileResponse(STATIC / "index.html", headers={**headers, "ETag": f'"{digest}"'})
    )


@router.get("/sw.js", include_in_schema=False)
async def service_worker(request: Request) -> Response:
    """Return the service worker; it contains a digest, so that each upgrade changes it."""
    digest, files = await asyncio.to_thread(_shell)
    code = await asyncio.to_thread((STATIC / "sw.js").read_text, "utf-8")
    headers = {
        "Content-Security-Policy": "default-src 'none'; connect-src 'self'",
        "Cache-Control": "no-cache",
    }
    text = f"const [DIGEST, SHELL] = {json.dumps([digest, files])};\n{code}"
    headers["ETag"] = f'"{hashlib.sha256(text.encode()).hexdigest()[:16]}"'
    return unless_held(request, Response(text, media_type="text/javascript", headers=headers))


@lru_cache(maxsize=1)
def _shell() -> tuple[str, list[str]]:
    """Return a digest of the files of the page, and their addresses."""
    digest = hashlib.sha256()
    addresses = ["/"]
    for path in sorted(STATIC.rglob("*")):
        if not path.is_file() or path.suffix == ".LICENSE" or path.name == "sw.js":
            continue
        digest.update(hashlib.sha256(path.read_bytes()).digest())
        if path.name != "index.html":
            addresses.append("/static/" + path.relative_to(STATIC).as_posix())
    return digest.hexdigest()[:16], addresses


@router.get("/open/{library}/{id}", include_in_schema=False)
async def open_in_page(request: Request, library: str, id: str) -> RedirectResponse:
    """Redirect to a citation in the page, which loads the item with the reader's own key."""
    if "\\" in library + id or not (library + id).isprintable():
        raise NotFound("There is no such item", "no id holds a backslash or what cannot be printed").named(
            "invalid_item_id"
        )
    raw = request.scope.get("raw_path", b"").decode("ascii", "replace").removeprefix("/open/")
    query = request.url.query
    target = f"/#/open/{raw}?{query}" if query else f"/#/open/{raw}"
    return RedirectResponse(target, status_code=303)


@router.get("/favicon.ico", include_in_schema=False)
async def icon() -> Response:
    """Return no icon; the page names its own."""
    return Response(status_code=204)


@router.api_route("/healthz", methods=["GET", "HEAD"])
async def health() -> dict[str, str]:
    """Report that the process answers."""
    return {"status": "ok"}


@router.api_route("/readyz", methods=["GET", "HEAD"])
async def ready(request: Request) -> JSONResponse:
    """Report whether the server accepts questions: it is not stopping, and the catalog can be read."""
    app_state = getattr(request.app.state, "app_state", None)  # absent when Studio's server runs this route
    status = "draining" if app_state and app_state.slots.draining else "ok"
    try:
        await asyncio.to_thread(lambda: stores().catalog.libraries())
    except Exception:
        status = f"the {'database' if corpora_settings().database else 'library folder'} cannot be used"
    return JSONResponse({"status": status}, status_code=200 if status == "ok" else 503)


@router.get("/api/me")
def me(caller: CallerNow) -> dict[str, Any]:
    """Return the caller, the chat model, and the available web search."""
    return {
        "caller": caller.id,
        "name": caller.name,
        "role": caller.role,
        "may_change": caller.owns_all,
        "version": __version__,
        "chat": model_settings().chat or None,
        "marks": marks_promised(),
        "web": providers.available() or None,
    }


@router.post("/api/login", status_code=204)
async def login(app_state: AppStateNow, request: Request, body: Login) -> Response:
    """Log a browser in with a key, for a session of 30 days that scripts cannot read."""
    session = await asyncio.to_thread(Keys(app_state.store).log_in, body.key)
    if session is None:
        raise Refused(
            401, "this key is wrong or was revoked", "copy it as `ragweave keys create` printed it"
        ).named("key_invalid_or_revoked")
    answer = Response(status_code=204)
    # A proxy may terminate TLS and forward plain HTTP, so the public address counts, too.
    secure = request.url.scheme == "https" or app_state.settings.url.lower().startswith("https://")
    # Lax, so that a link in a chat app opens; the guard limits requests with side effects to this origin.
    answer.set_cookie(
        COOKIE, session, max_age=SESSION_SECONDS, path="/", secure=secure, httponly=True, samesite="lax"
    )
    return answer


@router.post("/api/logout", status_code=204)
async def logout(app_state: AppStateNow, request: Request) -> Response:
    """End the session of a browser."""
    session = session_of(request.headers)
    if session:
        await asyncio.to_thread(Keys(app_state.store).log_out, session)
    answer = Response(status_code=204)
    answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax")
    return answer


class _Files(StaticFiles):
    """The files of the page; browsers revalidate them on each use."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """Return a file."""
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "no-cache"
        return response


def mount(app: FastAPI) -> None:
    """Add the page and its files to an app."""
    app.include_router(router)
    app.mount("/static", _Files(directory=STATIC), name="static")
