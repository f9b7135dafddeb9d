"""Fetch one page from a public address, within limits; for search engines that bring no text along.

The name is looked up once per hop, every answer is checked, and the connection goes to exactly the checked address,
while the Host header, SNI and the certificate check keep the name. So a name that changes its answer between check and
connection (DNS rebinding) gains nothing. Each redirect passes the same door. Proxies of the environment are not used,
because a proxy would look the name up again. Pages are asked for unpacked, so that there is no bomb to unfold.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Awaitable, Callable
from typing import NamedTuple
from urllib.parse import urljoin

import httpx

from ragweave.corpora.web.addresses import PORTS, Target, as_address, check_url, public
from ragweave.corpora.web.types import Refused
from ragweave.models.errors import WebError

logger = logging.getLogger(__name__)

Resolver = Callable[[str, int], Awaitable[list[str]]]

MAX_REDIRECTS = 5
MAX_BYTES = 5_000_000
TIMEOUT = 15.0
"""Seconds for one page, from the name look-up to the last byte, redirects included."""
TEXT_TYPES = frozenset({"text/html", "application/xhtml+xml", "text/plain", "text/markdown", "text/x-markdown"})
_BINARY = frozenset(range(9)) | {0x0B} | frozenset(range(0x0E, 0x1B)) | frozenset(range(0x1C, 0x20))
_CONNECT_TIMEOUT = 5.0  # leaves time for the next address of a name
_HEADERS = {
    "User-Agent": "Mozilla/5.0 (compatible; Ragweave)",
    "Accept": "text/html,application/xhtml+xml,text/plain;q=0.9,text/markdown;q=0.9",
    "Accept-Encoding": "identity",
}


class Body(NamedTuple):
    """What a fetch brought: the address after redirects, the page, and what its server declared or ""."""

    url: str
    data: bytes
    type: str
    charset: str


async def resolve(host: str, port: int) -> list[str]:
    """Look a name up with the system's resolver."""
    try:
        rows = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as exc:
        raise WebError(f"The name {host} was not found") from exc
    return [str(row[4][0]) for row in rows]


class PinnedTransport(httpx.AsyncBaseTransport):
    """Connects each request to an address that was looked up and checked just before."""

    def __init__(self, check: Callable[[str], Target], resolver: Resolver, allow_loopback: bool, tls: ssl.SSLContext):
        self._check, self._resolve, self._allow_loopback = check, resolver, allow_loopback
        # No connection is kept: a pool keyed by IP address would hand one site's TLS session to another.
        self._inner = httpx.AsyncHTTPTransport(verify=tls, limits=httpx.Limits(max_keepalive_connections=0))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Look up, check, connect; the next checked address is tried only when connecting failed."""
        target = self._check(str(request.url))
        literal = as_address(target.host) is not None
        answers = [target.host] if literal else await self._resolve(target.host, target.port)
        failure: httpx.TransportError | None = None
        for address in public(target.host, answers, allow_loopback=self._allow_loopback)[:3]:
            pinned = httpx.Request(
                request.method,
                request.url.copy_with(host=str(address)),
                headers=request.headers,
                stream=request.stream,
                extensions={**request.extensions, "sni_hostname": target.host},
            )
            try:
                return await self._inner.handle_async_request(pinned)
            except (httpx.ConnectError, httpx.ConnectTimeout) as exc:
                failure = exc
        raise failure or httpx.ConnectError("no address")

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class Fetcher:
    """Fetches pages.

    Args:
        max_bytes: largest body.
        timeout: seconds for the whole fetch, redirects included.
        resolver: looks a name up; the system's by default.
        allow_loopback: let loopback addresses through on any port. For tests against local servers; nothing in the
            settings or the environment reaches this argument.
        tls: TLS context; the default trusts the usual authorities.
    """

    def __init__(
        self,
        *,
        max_bytes: int = MAX_BYTES,
        timeout: float = TIMEOUT,
        resolver: Resolver = resolve,
        allow_loopback: bool = False,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.max_bytes, self.timeout = max_bytes, timeout
        self._resolver, self._allow_loopback, self._tls = resolver, allow_loopback, tls

    def check(self, url: str) -> Target:
        """Check an address by its looks; Refused where it must not be fetched."""
        return check_url(url, ports=None if self._allow_loopback else PORTS, allow_loopback=self._allow_loopback)

    async def fetch(self, url: str) -> Body:
        """Fetch one page, following at most `MAX_REDIRECTS` redirects.

        Raises:
            Refused: the address or one it redirects to must not be fetched.
            WebError: the page is unreachable, too slow, too large, not a text, or answers with an error.
        """
        target = self.check(url)
        try:
            async with asyncio.timeout(self.timeout):
                return await self._follow(target)
        except TimeoutError as exc:
            raise WebError(f"{target.host} did not answer within {self.timeout:g} s") from exc
        except httpx.HTTPError as exc:
            logger.debug("fetch of %s failed: %r", target.host, exc)
            raise WebError(f"{target.host} could not be reached ({type(exc).__name__})") from exc

    async def _follow(self, target: Target) -> Body:
        tls = await asyncio.to_thread(httpx.create_ssl_context) if self._tls is None else self._tls
        transport = PinnedTransport(self.check, self._resolver, self._allow_loopback, tls)
        limits = httpx.Timeout(self.timeout, connect=min(_CONNECT_TIMEOUT, self.timeout))
        async with httpx.AsyncClient(
            transport=transport, headers=_HEADERS, timeout=limits, trust_env=False, follow_redirects=False
        ) as client:
            for _ in range(MAX_REDIRECTS + 1):
                async with client.stream("GET", target.url) as response:
                    if not response.has_redirect_location:
                        return await self._body(target, response)
                    try:
                        target = self.check(urljoin(target.url, response.headers["location"]))
                    except ValueError as exc:
                        raise Refused(f"{target.host} redirects to an address that cannot be read") from exc
        raise WebError(f"{target.host} redirects more than {MAX_REDIRECTS} times")

    async def _body(self, target: Target, response: httpx.Response) -> Body:
        if response.status_code != 200:
            raise WebError(f"{target.host} answered with status {response.status_code}")
        declared = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if declared and declared not in TEXT_TYPES:
            raise WebError(f"{target.host} sent {declared[:60]}, which is not a text page")
        coding = response.headers.get("content-encoding", "").strip().lower()
        if coding not in ("", "identity"):
            raise WebError(f"{target.host} sent the coding {coding[:40]!r}, which was not asked for")
        data = bytearray()
        async for chunk in response.aiter_raw():
            data += chunk
            if len(data) > self.max_bytes:
                raise WebError(f"The page of {target.host} is larger than {self.max_bytes:,} bytes")
        charset = (response.charset_encoding or "").lower()
        if looks_binary(bytes(data[:1024]), charset):
            raise WebError(f"{target.host} sent something else than a text page")
        return Body(target.url, bytes(data), declared, charset)


def looks_binary(head: bytes, charset: str = "") -> bool:
    """Tell by the first bytes whether this is no text, whatever was declared.

    Control characters that no text holds (WHATWG MIME Sniffing, section 3, "binary data byte") and PDF, which may open
    with plain text. UTF-16 and UTF-32 hold zero bytes; they are told by their mark or by the declared charset.
    """
    if head.startswith(b"%PDF-"):
        return True
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")) or charset.startswith(("utf-16", "utf-32")):
        return False
    return any(byte in _BINARY for byte in head)
