"""Which addresses a page may be fetched from.

A page's address comes from strangers (a search engine, a redirect), so it must not lead into the network of the person
who asked. It is read strictly here and once more by `httpx`, which connects; what the two read differently is refused,
because parsers that disagree are how such checks are passed by.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from ragweave.corpora.web.types import Refused

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

PORTS = frozenset({80, 443, 8080, 8443})
"""Ports of the web; others speak other protocols."""

MAX_URL = 2_000

_URL = re.compile(r"(?P<scheme>https?)://(?P<authority>[^/?#]+)(?P<rest>.*)", re.I)
_AUTHORITY = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[^\[\]:]+)(?P<port>(?::[0-9]{0,5})?)", re.I)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMERIC_END = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)")
_PRIVATE_NAMES = (
    "localhost", "localdomain", "local", "internal", "intranet", "private", "lan", "home", "corp", "home.arpa", "onion",
)  # fmt: skip

_SPECIAL: tuple[tuple[Network, str], ...] = tuple(
    (ipaddress.ip_network(cidr), why)
    for cidr, why in (
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by a carrier (CGNAT)"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "documentation"),
        ("192.31.196.0/24", "reserved"),
        ("192.52.193.0/24", "reserved"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("192.175.48.0/24", "reserved"),
        ("198.18.0.0/15", "for benchmarks"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("255.255.255.255/32", "broadcast"),
        ("240.0.0.0/4", "reserved"),
        ("168.63.129.16/32", "a cloud's own service"),
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("::ffff:0:0/96", "IPv4-mapped"),
        ("::ffff:0:0:0/96", "IPv4-translated"),
        ("::/96", "IPv4-compatible"),
        ("64:ff9b::/96", "NAT64"),
        ("64:ff9b:1::/48", "local NAT64"),
        ("100::/64", "discard-only"),
        ("2001::/32", "Teredo"),
        ("2001::/23", "reserved"),
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "6to4"),
        ("2620:4f:8000::/48", "reserved"),
        ("3fff::/20", "documentation"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    )
)
_GLOBAL_V6 = ipaddress.ip_network("2000::/3")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class Target:
    """An address that passed the check by its looks; its host still has to resolve to a public one.

    Attributes:
        url: normalised: host in lower-case ASCII, no fragment.
        host: host name in ASCII, or an IP address without brackets.
        port: port, also where the address leaves it out.
    """

    url: str
    host: str
    port: int


def why_refused(address: Address, *, allow_loopback: bool = False) -> str:
    """Return what kind of address this is when it must not be connected to, or "" for a public one.

    The table follows the special-purpose registries of IANA for IPv4 and IPv6; outside of 2000::/3 no IPv6 address
    is public. Addresses that carry an IPv4 address inside are refused as a whole.
    """
    if allow_loopback and address.is_loopback:
        return ""
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id:
        return "bound to an interface"
    for network, why in _SPECIAL:
        if address.version == network.version and address in network:
            return why
    if isinstance(address, ipaddress.IPv6Address):
        # ISATAP interface identifiers carry an IPv4 address whatever the prefix (RFC 5214, section 6.1).
        if (int(address) >> 32) & 0xFFFFFFFF in (0x5EFE, 0x02005EFE):
            return "ISATAP"
        if address not in _GLOBAL_V6:
            return "not public"
    return "" if address.is_global else "not public"


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
    """Check an address by its looks and normalise it, without looking up its name.

    Args:
        url: absolute address.
        ports: ports that may be asked; None allows all.
        allow_loopback: let loopback addresses and `localhost` through (for tests against local servers).

    Returns:
        The normalised address and its parts.

    Raises:
        Refused: another scheme, credentials, an unusual port, a disguised or private host, or no address at all.
    """
    import httpx

    if len(url) > MAX_URL:
        raise Refused(f"The address of {len(url)} characters is too long")
    shown = ascii(url[:80])
    if any(c <= " " or c == "\\" or 0x7F <= ord(c) <= 0xA0 for c in url):
        raise Refused(f"The address {shown} holds spaces, control characters or backslashes")
    parts = _URL.fullmatch(url)
    if parts is None:
        raise Refused(f"The address {shown} is neither http nor https")
    if "@" in parts["authority"]:
        raise Refused(f"The address {shown} carries a user name")
    authority = _AUTHORITY.fullmatch(parts["authority"])
    if authority is None:
        raise Refused(f"The address {shown} names no host that can be read")
    netloc = _ascii_host(authority["host"], shown)
    host = netloc.strip("[]")
    _check_host(host, shown, allow_loopback)
    try:
        parsed = httpx.URL(f"{parts['scheme'].lower()}://{netloc}{authority['port']}{parts['rest']}")
        parsed = parsed.copy_with(fragment=None)
    except (httpx.InvalidURL, ValueError) as exc:
        raise Refused(f"The address {shown} cannot be read") from exc
    if parsed.raw_host.decode("ascii") != host:
        raise Refused(f"The address {shown} can be read in two ways")
    port = parsed.port if parsed.port is not None else (443 if parsed.scheme == "https" else 80)
    if ports is not None and port not in ports:
        raise Refused(f"The address {shown} asks for port {port}", "only the ports of the web are read")
    return Target(str(parsed), host, port)


def _ascii_host(raw: str, shown: str) -> str:
    """Return a host in ASCII; refuse names that turn into something else when normalised."""
    import idna

    if "%" in raw:
        raise Refused(f"The host of {shown} is percent-encoded or bound to an interface")
    if raw.isascii():
        return raw.lower().removesuffix(".")
    try:
        name = idna.encode(raw, uts46=True, std3_rules=True).decode().removesuffix(".")
    except (idna.IDNAError, UnicodeError) as exc:
        raise Refused(f"The host of {shown} is no valid international name") from exc
    if "xn--" not in name:
        # Full-width digits, circled letters and their like spell a plain ASCII host; no honest link is written so.
        raise Refused(f"The host of {shown} is written in disguise")
    return name


def as_address(host: str) -> Address | None:
    """Return the host as an IP address where it is one in its usual form."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _check_host(host: str, shown: str, allow_loopback: bool) -> None:
    address = as_address(host)
    if address is not None:
        why = why_refused(address, allow_loopback=allow_loopback)
        if why:
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
