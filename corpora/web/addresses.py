"""Which addresses a page may be fetched from.

A page's address comes from strangers (a search engine, a redirect), so it must not lead into the network of the person
who asked. It is read by `httpx`, which also connects: parsers that disagree are how such checks are passed by.
"""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple

import httpx

from ragweave.corpora.web.types import Refused

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

PORTS = frozenset({80, 443, 8080, 8443})
"""Ports of the web; others speak other protocols."""
MAX_URL = 2_000

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMERIC_END = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)")
_PRIVATE_NAMES = tuple(
    "localhost localdomain local internal intranet private lan home corp home.arpa onion".split()
)  # fmt: skip

_SPECIAL = {
    "unspecified": "0.0.0.0/8 ::/128",
    "loopback": "127.0.0.0/8 ::1/128",
    "private": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7",
    "link-local": "169.254.0.0/16 fe80::/10",
    "site-local": "fec0::/10",
    "shared by a carrier (CGNAT)": "100.64.0.0/10",
    "a cloud's own service": "168.63.129.16/32",
    "documentation": "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20",
    "for benchmarks": "198.18.0.0/15",
    "multicast": "224.0.0.0/4 ff00::/8",
    "broadcast": "255.255.255.255/32",
    "IPv4-mapped": "::ffff:0:0/96",
    "IPv4-translated": "::ffff:0:0:0/96",
    "IPv4-compatible": "::/96",
    "NAT64": "64:ff9b::/96",
    "local NAT64": "64:ff9b:1::/48",
    "discard-only": "100::/64",
    "Teredo": "2001::/32",
    "6to4": "192.88.99.0/24 2002::/16",
    "reserved": "192.0.0.0/24 192.31.196.0/24 192.52.193.0/24 192.175.48.0/24 240.0.0.0/4 2001::/23 2620:4f:8000::/48",
}
"""The special-purpose registries of IANA for IPv4 and IPv6; the first kind that fits counts."""
_NETWORKS = [(ipaddress.ip_network(cidr), why) for why, cidrs in _SPECIAL.items() for cidr in cidrs.split()]
_GLOBAL_V6 = ipaddress.ip_network("2000::/3")


class Target(NamedTuple):
    """An address that passed the check by its looks; its host still has to resolve to a public one.

    The host is in lower-case ASCII, or an IP address without brackets; the address has no fragment.
    """

    url: str
    host: str
    port: int


def why_refused(address: Address, *, allow_loopback: bool = False) -> str:
    """Return what kind of address this is when it must not be connected to, or "" for a public one.

    Outside of 2000::/3 no IPv6 address is public. Those that carry an IPv4 address inside are refused as a whole.
    """
    if allow_loopback and address.is_loopback:
        return ""
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id:
        return "bound to an interface"
    for network, why in _NETWORKS:
        if address.version == network.version and address in network:
            return why
    # ISATAP interface identifiers carry an IPv4 address whatever the prefix (RFC 5214, section 6.1).
    if address.version == 6 and (int(address) >> 32) & 0xFFFFFFFF in (0x5EFE, 0x02005EFE):
        return "ISATAP"
    return "" if address.is_global and (address.version == 4 or address in _GLOBAL_V6) else "not public"


def public(host: str, answers: list[str], *, allow_loopback: bool = False) -> list[Address]:
    """Check every answer of a name look-up and return the ones to connect to, IPv4 first.

    One private answer condemns the whole name: an honest site has none. NAT64 forms of public addresses, which some
    networks add to every answer, are left out instead.

    Raises:
        Refused: an answer is not public, or there is none.
    """
    kept: list[Address] = []
    for answer in answers:
        address = as_address(answer)
        if address is None:
            raise Refused(f"The name look-up of {host} gave {answer[:60]!r}, which is no address")
        why = why_refused(address, allow_loopback=allow_loopback)
        if why == "NAT64" and not why_refused(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)):
            continue
        if why:
            raise Refused(f"{host} leads to {address}, which is {why}", "only public addresses are read")
        if address not in kept:
            kept.append(address)
    if not kept:
        raise Refused(f"{host} has no public address")
    return sorted(kept, key=lambda a: a.version)


def check_url(url: str, *, ports: frozenset[int] | None = PORTS, allow_loopback: bool = False) -> Target:
    """Check an absolute address by its looks and normalise it, without looking up its name; no ports allow all.

    Raises:
        Refused: another scheme, credentials, an unusual port, a disguised or private host, or no address at all.
    """
    if len(url) > MAX_URL:
        raise Refused(f"The address of {len(url)} characters is too long")
    shown = ascii(url[:80])
    if any(c <= " " or c == "\\" or 0x7F <= ord(c) <= 0xA0 for c in url):
        raise Refused(f"The address {shown} holds spaces, control characters or backslashes")
    try:
        parsed = httpx.URL(url)
        host = parsed.raw_host.decode("ascii").removesuffix(".")
        parsed = parsed.copy_with(host=host, fragment=None)
        again = httpx.URL(str(parsed))
    except (httpx.InvalidURL, ValueError) as exc:
        raise Refused(f"The address {shown} cannot be read") from exc
    if parsed.scheme not in ("http", "https") or not host:
        raise Refused(f"The address {shown} is neither http nor https")
    if parsed.userinfo or "@" in url.partition("//")[2].partition("/")[0].partition("?")[0].partition("#")[0]:
        raise Refused(f"The address {shown} carries a user name")
    if again.raw_host.decode("ascii") != host:
        raise Refused(f"The address {shown} can be read in two ways")
    _check_host(host, shown, allow_loopback)
    port = parsed.port if parsed.port is not None else (443 if parsed.scheme == "https" else 80)
    if ports is not None and port not in ports:
        raise Refused(f"The address {shown} asks for port {port}", "only the ports of the web are read")
    return Target(str(parsed), host, port)


def as_address(host: str) -> Address | None:
    """Return the host as an IP address where it is one in its usual form."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _check_host(host: str, shown: str, allow_loopback: bool) -> None:
    address = as_address(host)
    if address is not None:
        if why := why_refused(address, allow_loopback=allow_loopback):
            raise Refused(f"The address {shown} is {why}", "only public addresses are read")
        return
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise Refused(f"The host of {shown} is no valid name")
    if _NUMERIC_END.fullmatch(labels[-1]):
        # 127.1, 2130706433, 0177.0.0.1 and 0x7f.1: resolvers read them as IPv4 addresses.
        raise Refused(f"The host of {shown} is an IPv4 address in an unusual form")
    if allow_loopback and host == "localhost":
        return
    if len(labels) == 1 or any(host == name or host.endswith(f".{name}") for name in _PRIVATE_NAMES):
        raise Refused(f"The host of {shown} is a name of a private network")
