"""Fetch a page or file by its web address, from public addresses only.

Addresses of this machine or of a private network are refused, including those behind a name or a redirect: a
user who may add files must not read what only the server can reach. The connection goes to the address that
was checked, so that the name cannot resolve to another one in between.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from urllib.parse import unquote, urljoin, urlsplit

import httpx

from ragweave.corpora.settings import corpora_settings
from ragweave.models.errors import InputError
from ragweave.models.settings import model_settings

SECONDS = 30.0
"""Time limit of a fetch including redirects."""
_REDIRECTS = 5
_ENDINGS = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "text/plain": "txt",
    "text/markdown": "md",
    "text/csv": "csv",
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/webp": "webp",
}
"""Accepted media types, and the extensions of their files."""
_NAT64, _IPV4_COMPATIBLE = ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("::/96")
"""Networks whose addresses embed an IPv4 address: NAT64 and the deprecated IPv4-compatible ones."""
_NAT64_LOCAL = ipaddress.IPv6Network("64:ff9b:1::/48")
_REMEDY = "save the page as a file, and add that"


async def fetched(url: str, seconds: float = SECONDS, most: int = 0) -> tuple[str, bytes]:
    """Return a file name for the content at an address, and the content.

    Args:
        url: address of a page or file.
        seconds: time limit, redirects included.
        most: largest content in bytes; 0: that of a file (RAGWEAVE_MAX_FILE_MB).

    Raises:
        InputError: the address is not on the public web, does not answer in time, or has no content of an
            accepted type.
    """
    if model_settings().offline:
        raise InputError("Nothing is fetched, because RAGWEAVE_OFFLINE is set", _REMEDY).named(
            "offline_fetch"
        )
    try:
        async with asyncio.timeout(seconds), httpx.AsyncClient(timeout=seconds, trust_env=False) as client:
            for _ in range(_REDIRECTS + 1):
                response = await client.send(await _request(url), stream=True)
                if not response.has_redirect_location:
                    return await _read(url, response, most or corpora_settings().max_file_mb << 20)
                await response.aclose()
                url = urljoin(url, response.headers["location"])
    except (TimeoutError, httpx.TimeoutException) as exc:
        raise InputError(f"The address did not answer within {seconds:g} seconds", _REMEDY).named(
            "address_timeout", seconds=f"{seconds:g}"
        ) from exc
    except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as exc:
        raise InputError("The address could not be reached", "look for a mistake in it").named(
            "address_unreachable"
        ) from exc
    raise InputError("The address leads on and on", _REMEDY).named("too_many_redirects")


async def _request(url: str) -> httpx.Request:
    """Return a request to the checked IP address that names the host of the URL."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    except ValueError:
        host, port = "", 0
    if not host or not port or "@" in parts.netloc:
        raise InputError(
            "That is no address of a web page", "give one that begins with https:// or http://"
        ).named("invalid_web_address")
    given = httpx.URL(url.strip())
    name = given.raw_host.decode("ascii")  # DNS, HTTP and TLS need the ASCII form
    found = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
    places = [str(row[4][0]) for row in found]
    if not all(map(_is_public, places)):
        raise InputError("The address belongs to this machine or to a private network", _REMEDY).named(
            "address_private"
        )
    target = given.copy_with(host=places[0], fragment=None)
    headers = {"Host": given.netloc.decode("ascii"), "User-Agent": "Ragweave", "Accept": ", ".join(_ENDINGS)}
    return httpx.Request("GET", target, headers=headers, extensions={"sni_hostname": name})


def _is_public(place: str) -> bool:
    address = ipaddress.ip_address(place.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        if address.is_site_local or address in _NAT64_LOCAL:
            return False
        if address in _NAT64 or address in _IPV4_COMPATIBLE:
            address = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        else:
            address = address.ipv4_mapped or address.sixtofour or address
    return address.is_global and not address.is_multicast


async def _read(url: str, response: httpx.Response, most: int) -> tuple[str, bytes]:
    if response.status_code != 200:
        raise InputError(
            f"The address answers with status {response.status_code}", "look for a mistake in it"
        ).named("address_status", status_code=response.status_code)
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _ENDINGS:
        raise InputError(f"What lies there, {kind[:80] or 'of no stated type'}, is not read", _REMEDY).named(
            "page_type_unsupported", value=kind[:80] or "of no stated type"
        )
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > most:
            limit = f"{most / (1 << 20):g}"
            raise InputError(
                f"What lies there is larger than {limit} MiB", "raise RAGWEAVE_MAX_FILE_MB"
            ).named("page_too_large", limit=limit)
    await response.aclose()
    return _name(url, _ENDINGS[kind]), bytes(body)


def _name(url: str, ending: str) -> str:
    """Return a file name made of host and path, such as `example.org tea house.html`."""
    parts = urlsplit(url)
    path = filter(None, unquote(parts.path).split("/"))
    words = " ".join([parts.hostname or "", *path, parts.query]).replace("\\", " ").strip()
    return f"{words.removesuffix('.' + ending)[:120]}.{ending}"
