"""Check every request before the server reads its body or does any work for it."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import secrets
import time
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragweave.models.errors import NO_ROOM, StorageError
from ragweave.serve.access import Caller
from ragweave.serve.counters import REQUESTS
from ragweave.serve.database import sent
from ragweave.serve.kept_files import FILE_MB
from ragweave.serve.keys import Keys
from ragweave.serve.problems import Refused, response
from ragweave.serve.settings import ServeSettings
from ragweave.serve.store import Store

logger = logging.getLogger(__name__)

COOKIE = "ragweave_session"
"""Cookie of a browser that is logged in; it has a session, never a key."""
_PUBLIC = ("/favicon.ico", "/sw.js", "/api/login", "/api/logout")
_PROBES = ("/healthz", "/readyz")
"""Addresses that are answered without a look at the keys, which a database that is down may hold."""
_PUBLIC_UNDER = ("/static/", "/open/")
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_UPLOAD, _FILES = "/api/upload", "/v1/files"
"""Addresses that accept forms with files."""
_NEVER = 120.0
"""Seconds after which a bucket is full again in any case: a minute, and a minute that clocks may differ."""
_STALL = 30.0
"""Longest pause between two pieces of a body, in seconds."""
_PACE = 16_384
"""Least speed of a body in bytes per second, measured after the first `_STALL` seconds."""
_UNREAD = 60.0
"""Seconds after which a client that does not read its response counts as gone."""
_NO_KEY = Caller("nobody", frozenset())
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
"""Sent with every response that does not set its own."""


class _Reply:
    """Send the messages of one response with the server's headers; note its status and a lost client."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._state, self._send = scope["state"], send
        self.status = 0
        """Status that was sent; 0 until then."""
        self.gone = asyncio.Event()
        """Set when the client stops reading."""

    async def __call__(self, message: Message) -> None:
        """Send one message."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self._add_headers(MutableHeaders(scope=message))
        if self.gone.is_set():
            return
        try:
            async with asyncio.timeout(_UNREAD):
                await self._send(message)
        except TimeoutError:
            self.gone.set()

    def _add_headers(self, headers: MutableHeaders) -> None:
        for name, value in HEADERS.items():
            headers.setdefault(name, value)
        headers["X-Request-Id"] = self._state["request_id"]
        caller = self._state.get("caller")
        if caller:
            headers["X-Ragweave-Caller"] = caller.id


class Guard:
    """Check host, origin, key, rate and size, in this order, and log one line for each request.

    If the server is `exposed` to other machines, a key is always needed.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings, keys: Keys, exposed: bool) -> None:
        self._app, self._settings, self._keys, self._exposed = app, settings, keys, exposed
        self._names = {"localhost"}
        for name in settings.names.split(","):
            if name.strip():
                self._names.add(name.strip().lower())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or respond with the reason for its refusal."""
        if scope["type"] != "http":
            # There are no web sockets here; the lifespan passes.
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        request = secrets.token_hex(6)
        scope.setdefault("state", {})["request_id"] = request
        began = time.monotonic()
        reply = _Reply(scope, send)
        try:
            try:
                scope["state"]["caller"] = await self._admit(scope)
                await self._app(scope, self._limited(scope, _until(reply.gone, receive)), reply)
            except Exception as error:  # one that the app does not handle itself
                if reply.status:
                    raise
                await response(error, request, scope["path"])(scope, receive, reply)
        finally:
            status = reply.status or 500
            facts = {"request": request, "status": status, "seconds": round(time.monotonic() - began, 4)}
            caller = scope["state"].get("caller")
            if caller:
                facts |= {"caller": caller.id, "key": caller.name}
            REQUESTS.labels(str(status)).inc()
            logger.info("%s %s %s", scope["method"], scope["path"], status, extra=facts)

    async def _admit(self, scope: Scope) -> Caller:
        """Return the caller of a request, or raise why it is refused."""
        headers = Headers(scope=scope)
        self._check_host(headers)
        unsafe = scope["method"] not in _SAFE
        check_origin(headers, unsafe)
        path = scope["path"]
        if path in _PROBES:
            return _NO_KEY
        if unsafe:
            _check_content_type(headers, path)
        peer = scope["client"][0] if scope.get("client") else ""
        return await asyncio.to_thread(self._known, headers, path, peer if unsafe else None)

    def _known(self, headers: Headers, path: str, peer: str | None) -> Caller:
        """Return the caller; if a peer is given, count the request against the rate limit."""
        caller = self._caller(headers, path)
        if peer is not None:
            _count(self._keys.store, f"{caller.id} {peer}", self._settings.per_minute)
        return caller

    def _check_host(self, headers: Headers) -> None:
        """Refuse an unknown host name: a foreign page under such a name would have this origin."""
        host = ""
        try:
            host = (urlsplit(f"//{headers.get('host', '')}").hostname or "").lower()
            if host not in self._names:
                ipaddress.ip_address(host)
        except ValueError:
            what = f"this server is not called {host[:100]!r}"
            raise Refused(421, what, "call it by its address, or set RAGWEAVE_SERVE_NAMES").named(
                "unknown_host_name", host=host[:100]
            ) from None

    def _caller(self, headers: Headers, path: str) -> Caller:
        """Return the caller that the key or the session of a request names."""
        secret, session = key_of(headers), session_of(headers)
        found = None
        if secret:
            found = self._keys.caller(secret)
        elif session:
            found = self._keys.caller_of_session(session)
        if found:
            return found
        if path == "/" or path in _PUBLIC or path.startswith(_PUBLIC_UNDER):
            return _NO_KEY
        if self._exposed or self._keys.locked():
            key, what = "key_required", "this server asks for an API key"
            if secret:
                key, what = "key_invalid", "this key is wrong or was revoked"
            elif session:
                key = "session_expired"
                what = "this browser is logged out: 30 days have passed, or its key was changed or revoked"
            remedy = "send one that `ragweave keys create` made, as: Authorization: Bearer KEY"
            raise Refused(401, what, remedy).named(key)
        return Caller()

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        """Return a `receive` that refuses a body that is too large or arrives too slowly."""
        largest = {_UPLOAD: self._settings.upload_mb, _FILES: FILE_MB + 1}
        megabytes = largest.get(scope["path"], self._settings.body_mb)
        limit, length = megabytes << 20, Headers(scope=scope).get("content-length", "")
        if length.isdigit() and int(length) > limit:
            what = f"the request is larger than {megabytes} MiB"
            raise Refused(413, what, "send less, or raise the limit of the server").named(
                "request_too_large", megabytes=megabytes
            )
        taken, whole = 0, False
        began = asyncio.get_running_loop().time()

        async def limited() -> Message:
            nonlocal taken, whole
            if whole:
                return await receive()
            try:
                due = began + _STALL + taken / _PACE
                async with asyncio.timeout_at(min(asyncio.get_running_loop().time() + _STALL, due)):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, "the body of the request did not arrive") from None
            taken += len(message.get("body", b""))
            whole = not message.get("more_body", False)
            if taken > limit:
                raise HTTPException(413)
            return message

        return limited


def _until(gone: asyncio.Event, receive: Receive) -> Receive:
    """Return a `receive` that reports a client that does not read as disconnected."""

    async def receive_or_disconnect() -> Message:
        tasks = asyncio.ensure_future(receive()), asyncio.ensure_future(gone.wait())
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return tasks[0].result() if tasks[0].done() else {"type": "http.disconnect"}
        finally:
            for task in tasks:
                task.cancel()

    return receive_or_disconnect


def _count(store: Store, who: str, per_minute: int) -> None:
    """Take one request from the bucket of a caller, which fills at a steady rate.

    All servers of a database share the bucket. Stored is the time at which it is full again (the generic cell
    rate algorithm). A time that no request can have left is forgotten: the clock was set back. A full disk
    counts nothing, because readers write nothing else.

    Raises:
        Refused: the bucket is empty.
    """
    step, now = 60 / per_minute, time.time()
    try:
        with store.writing() as db:
            sent(db, "DELETE FROM rates WHERE due < :now OR due > :never", now=now, never=now + _NEVER)
            if sent(db, _TAKE, who=who, now=now, step=step, latest=now + 60 - step).rowcount:
                return
    except StorageError as error:
        if error.status == NO_ROOM:
            return
        raise
    wait = max(1, round(step))
    raise Refused(429, f"more than {per_minute} requests in a minute", f"wait {wait} s", after=wait).named(
        "rate_limit", per_minute=per_minute, wait=wait
    )


_TAKE = """INSERT INTO rates (who, due) VALUES (:who, :now + :step)
    ON CONFLICT (who) DO UPDATE SET due = rates.due + :step WHERE rates.due <= :latest"""


def check_origin(headers: Mapping[str, str], unsafe: bool) -> None:
    """Refuse requests that a page of another origin sends; there is no CORS.

    Following a link on another page is allowed. Programs outside a browser send no origin.
    """
    site, origin = headers.get("sec-fetch-site", ""), headers.get("origin", "")
    navigates = headers.get("sec-fetch-mode", "") == "navigate" and not unsafe
    foreign = site in ("cross-site", "same-site") and not navigates
    if origin:
        foreign |= origin == "null" or urlsplit(origin).netloc.lower() != headers.get("host", "").lower()
    if foreign:
        raise Refused(
            403, "pages of other origins may not use this server", "use its own page, or a program with a key"
        ).named("foreign_origin")


def _check_content_type(headers: Headers, path: str) -> None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    wanted = "multipart/form-data" if path in (_UPLOAD, _FILES) else "application/json"
    # A request without a body has no type; a form of another page always has one.
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    if kind != wanted and (kind or has_body):
        raise Refused(415, f"this address takes {wanted}", f"send the header Content-Type: {wanted}").named(
            "unsupported_media_type", wanted=wanted
        )


def key_of(headers: Mapping[str, str]) -> str:
    """Return the key that a request sends as a bearer token, or ""."""
    kind, _, value = headers.get("authorization", "").partition(" ")
    return value.strip() if kind.lower() == "bearer" else ""


def session_of(headers: Mapping[str, str]) -> str:
    """Return the session in the cookie of the web app, or ""."""
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return cookie.value if cookie else ""
