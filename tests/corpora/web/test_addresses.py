from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.web.addresses import check_url, public, why_refused
from ragweave.corpora.web.types import Refused

PRIVATE = {
    "0.0.0.0": "unspecified",
    "0.1.2.3": "unspecified",
    "10.0.0.1": "private",
    "10.255.255.255": "private",
    "100.64.0.1": "CGNAT",
    "100.100.100.200": "CGNAT",
    "100.127.255.254": "CGNAT",
    "127.0.0.1": "loopback",
    "127.255.255.254": "loopback",
    "169.254.0.1": "link-local",
    "169.254.169.254": "link-local",
    "169.254.170.2": "link-local",
    "168.63.129.16": "cloud",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.0.0.192": "reserved",
    "192.0.2.1": "documentation",
    "192.88.99.1": "6to4",
    "192.168.0.1": "private",
    "192.168.255.255": "private",
    "198.18.0.1": "benchmarks",
    "198.19.255.255": "benchmarks",
    "198.51.100.7": "documentation",
    "203.0.113.9": "documentation",
    "224.0.0.1": "multicast",
    "239.255.255.250": "multicast",
    "240.0.0.1": "reserved",
    "255.255.255.255": "broadcast",
    "::": "unspecified",
    "::1": "loopback",
    "::7f00:1": "IPv4-compatible",
    "::ffff:127.0.0.1": "IPv4-mapped",
    "::ffff:8.8.8.8": "IPv4-mapped",
    "::ffff:169.254.169.254": "IPv4-mapped",
    "::ffff:0:127.0.0.1": "IPv4-translated",
    "64:ff9b::7f00:1": "NAT64",
    "64:ff9b::a9fe:a9fe": "NAT64",
    "64:ff9b::808:808": "NAT64",
    "64:ff9b:1::a00:1": "local NAT64",
    "64:ff9b:1:ffff::1": "local NAT64",
    "100::1": "discard",
    "2001::1": "Teredo",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2": "Teredo",
    "2001:2::1": "reserved",
    "2001:10::1": "reserved",
    "2001:20::1": "reserved",
    "2001:db8::1": "documentation",
    "2002:7f00:1::": "6to4",
    "2002:808:808::1": "6to4",
    "2606:4700::5efe:10.0.0.1": "ISATAP",
    "2606:4700::200:5efe:10.0.0.1": "ISATAP",
    "3fff::1": "documentation",
    "4000::1": "not public",
    "5f00::1": "not public",
    "fc00::1": "private",
    "fd00:ec2::254": "private",
    "fe80::1": "link-local",
    "fec0::1": "site-local",
    "ff02::1": "multicast",
    "ff0e::1": "multicast",
}
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "93.184.216.34",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.1",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2606:2800:220:1:248:1893:25c8:1946",
    "2a00:1450:4001::1",
]


@pytest.mark.parametrize(("address", "why"), PRIVATE.items())
def test_an_address_that_is_not_public_is_refused_with_its_kind_and_as_the_host_of_a_link(
    address: str, why: str
) -> None:
    assert why in why_refused(ipaddress.ip_address(address))
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(Refused, match="is "):
        check_url(f"http://{host}/latest/meta-data/")


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_passes(address: str) -> None:
    assert why_refused(ipaddress.ip_address(address)) == ""
    host = f"[{address}]" if ":" in address else address
    assert check_url(f"https://{host}/").host == address


UNREADABLE = "cannot be read|no valid name|unusual form|port -80|loopback|interface|neither http"
"""What `httpx`, which would connect, cannot read, or reads as an address that is refused anyway."""

REFUSED_URLS = {
    # schemes
    "file:///etc/passwd": "neither http",
    "ftp://example.com/": "neither http",
    "gopher://example.com:70/_x": "neither http",
    "javascript:alert(1)": "neither http",
    "data:text/html,hello": "neither http",
    "ws://example.com/": "neither http",
    "view-source:http://example.com/": "neither http",
    "//example.com/": "neither http",
    "example.com": "neither http",
    "http:example.com": "neither http",
    "http:/example.com": "neither http",
    "http:///example.com": "neither http",
    "http://": "neither http",
    "": "neither http",
    # white space, control characters, backslashes
    " http://example.com/": "spaces",
    "http://exam ple.com/": "spaces",
    "http://example.com/a\r\nHost: evil": "spaces",
    "http://example.com/\x00": "spaces",
    "http://example.com\t/": "spaces",
    "http://example.com\\@127.0.0.1/": "spaces",
    "http:\\\\example.com": "spaces",
    "http://example.com/\x7f": "spaces",
    "http://example.com\u0085/": "spaces",
    # credentials
    "http://user@example.com/": "user name",
    "http://user:pw@example.com/": "user name",
    "http://example.com@127.0.0.1/": "user name",
    "http://@example.com/": "user name",
    "http://127.0.0.1:80#@example.com/": "loopback",
    "http://example.com:80@127.0.0.1/": "user name",
    # ports
    "http://example.com:22/": "port 22",
    "http://example.com:25/": "port 25",
    "http://example.com:6379/": "port 6379",
    "http://example.com:0/": "port 0",
    "http://example.com:65536/": "port|read",
    "http://example.com:0x50/": UNREADABLE,
    "http://example.com:80:80/": UNREADABLE,
    "http://example.com:-80/": UNREADABLE,
    # IPv4 in other clothes
    "http://2130706433/": "unusual form",
    "http://017700000001/": "unusual form",
    "http://0x7f000001/": "unusual form",
    "http://0x7f.0.0.1/": "unusual form",
    "http://0X7F.0X0.0X0.0X1/": "unusual form",
    "http://0177.0.0.1/": UNREADABLE,
    "http://0177.0.0.01/": UNREADABLE,
    "http://127.1/": "unusual form",
    "http://127.0.1/": "unusual form",
    "http://0/": "unusual form",
    "http://127.0.0.1./": "loopback",
    "http://127.0.0.1../": "no valid name",
    "http://127.0.0.0x1/": "unusual form",
    "http://00127.0.0.1/": UNREADABLE,
    "http://256.256.256.256/": UNREADABLE,
    "http://1.2.3.4.5/": "unusual form",
    "http://425.510.425.510/": UNREADABLE,
    "http://10.0.0.1:80/": "private",
    "http://127.0.0.1%2f@example.com/": "user name",
    "http://127。0。0。1/": UNREADABLE,
    "http://１２７.０.０.１/": UNREADABLE,
    "http://①②⑦.⓪.⓪.①/": UNREADABLE,
    "http://127.0.0.1%00.example.com/": UNREADABLE,
    "http://%31%32%37.0.0.1/": UNREADABLE,
    # IPv6 in other clothes
    "http://[::ffff:7f00:1]/": "IPv4-mapped",
    "http://[0:0:0:0:0:ffff:127.0.0.1]/": "IPv4-mapped",
    "http://[0000:0000:0000:0000:0000:0000:0000:0001]/": "loopback",
    "http://[fe80::1%25eth0]/": UNREADABLE,
    "http://[::1]example.com/": UNREADABLE,
    "http://[::1/": UNREADABLE,
    "http://::1/": UNREADABLE,
    "http://[]/": UNREADABLE,
    "http://[v1.fe80::a]/": UNREADABLE,
    "http://[1:2:3]/": "no valid|read",
    # names
    "http://localhost/": "private network",
    "http://LOCALHOST/": "private network",
    "http://localhost./": "private network",
    "http://localhost../": "no valid name",
    "http://a.localhost/": "private network",
    "http://localhost.localdomain/": "private network",
    "http://intranet/": "private network",
    "http://router.lan/": "private network",
    "http://printer.local/": "private network",
    "http://nas.home.arpa/": "private network",
    "http://metadata.google.internal/computeMetadata/v1/": "private network",
    "http://wiki.corp/": "private network",
    "http://hiddenservice.onion/": "private network",
    "http://loc\u00adalhost/": UNREADABLE,
    "http://ⓛocalhost/": UNREADABLE,
    "http://ｌｏｃａｌｈｏｓｔ/": UNREADABLE,
    "http://ﬁsh.example/": UNREADABLE,
    "http://☃.example/": UNREADABLE,
    "http://exam\u200bple.com/": UNREADABLE,
    "http://-example.com/": "no valid name",
    "http://example-.com/": "no valid name",
    "http://exa*mple.com/": "no valid name|read",
    "http://example..com/": "no valid name",
    "http://.example.com/": "no valid name",
    f"http://{'a' * 64}.com/": "no valid name",
    f"http://{'a.' * 127}com/": "no valid name",
    f"http://example.com/{'a' * 2000}": "too long",
    "http://exam<ple.com/": "no valid name|read",
    "http://example.com;evil.com/": "no valid name|read",
    "http://exa\ud800mple.com/": "read|international",
}


@pytest.mark.parametrize(("url", "why"), REFUSED_URLS.items(), ids=ascii)
def test_a_link_that_must_not_be_followed_is_refused_with_a_reason(url: str, why: str) -> None:
    with pytest.raises(Refused, match=why) as caught:
        check_url(url)
    assert str(caught.value).isascii(), "nothing of a hostile address reaches a terminal undisguised"


NORMALISED = {
    "http://example.com:８０/": "http://example.com/",
    "http://example.com": "http://example.com",
    "HTTP://EXAMPLE.COM/Path": "http://example.com/Path",
    "https://example.com:443/": "https://example.com/",
    "https://example.com:8443/x": "https://example.com:8443/x",
    "http://example.com:/x": "http://example.com/x",
    "http://example.com./x": "http://example.com/x",
    "http://example.com/a?b=c#fragment": "http://example.com/a?b=c",
    "http://example.com/?next=http://127.0.0.1/": "http://example.com/?next=http://127.0.0.1/",
    "http://example.com/@user": "http://example.com/@user",
    "http://example.com/ü": "http://example.com/%C3%BC",
    "http://bücher.example/": "http://xn--bcher-kva.example/",
    "http://BÜCHER.example/": "http://xn--bcher-kva.example/",
    "http://faß.example/": "http://xn--fa-hia.example/",
    "http://президент.рф/": "http://xn--d1abbgf6aiiy.xn--p1ai/",
    "http://例え。テスト/": "http://xn--r8jz45g.xn--zckzah/",
    "http://xn--bcher-kva.example/": "http://xn--bcher-kva.example/",
    "http://my_site.example/": "http://my_site.example/",
    "http://8.8.8.8:8080/": "http://8.8.8.8:8080/",
    "http://[2001:4860:4860::8888]/": "http://[2001:4860:4860::8888]/",
    "http://12monkeys.example/": "http://12monkeys.example/",
    "http://0x7f.example/": "http://0x7f.example/",
}


@pytest.mark.parametrize(("url", "normal"), NORMALISED.items(), ids=ascii)
def test_an_honest_link_passes_in_one_form(url: str, normal: str) -> None:
    target = check_url(url)
    assert target.url == normal
    assert check_url(target.url) == target


def test_the_table_holds_at_least_a_hundred_cases() -> None:
    assert len(PRIVATE) + len(PUBLIC) + len(REFUSED_URLS) + len(NORMALISED) >= 200


def test_one_private_answer_condemns_the_name() -> None:
    with pytest.raises(Refused, match=r"10\.0\.0\.1, which is private"):
        public("site.example", ["93.184.216.34", "10.0.0.1"])


def test_public_answers_come_once_and_ipv4_first() -> None:
    found = public("site.example", ["2606:4700::1111", "1.1.1.1", "1.1.1.1"])
    assert [str(a) for a in found] == ["1.1.1.1", "2606:4700::1111"]


def test_the_nat64_form_of_a_public_address_is_left_out_and_of_a_private_one_refused() -> None:
    assert [str(a) for a in public("site.example", ["64:ff9b::808:808", "8.8.8.8"])] == ["8.8.8.8"]
    with pytest.raises(Refused, match="no public address"):
        public("site.example", ["64:ff9b::808:808"])
    with pytest.raises(Refused, match="NAT64"):
        public("site.example", ["64:ff9b::7f00:1", "8.8.8.8"])


@pytest.mark.parametrize("answers", [[], ["not an address"], ["fe80::1%eth0"], ["2606:4700::1%eth0"]])
def test_an_unusable_look_up_is_refused(answers: list[str]) -> None:
    with pytest.raises(Refused):
        public("site.example", answers)


def test_loopback_is_let_through_only_when_asked_for_and_nothing_else_with_it() -> None:
    assert check_url("http://127.0.0.1:5000/", ports=None, allow_loopback=True).port == 5000
    assert check_url("http://localhost:5000/", ports=None, allow_loopback=True).host == "localhost"
    for other in ("http://10.0.0.1/", "http://169.254.169.254/", "http://[::ffff:127.0.0.1]/", "http://router.lan/"):
        with pytest.raises(Refused):
            check_url(other, ports=None, allow_loopback=True)


@given(st.ip_addresses(v=4))
def test_no_ipv4_address_passes_that_python_does_not_call_global(address: ipaddress.IPv4Address) -> None:
    if not why_refused(address):
        assert address.is_global and not address.is_multicast


@given(st.ip_addresses(v=6))
def test_no_ipv6_address_passes_that_carries_a_private_one(address: ipaddress.IPv6Address) -> None:
    if not why_refused(address):
        assert address.is_global and not address.is_multicast
        assert address.sixtofour is None and address.teredo is None and address.ipv4_mapped is None


@given(st.text(max_size=60), st.sampled_from(["", "http://", "https://", "http://[", "http://a@", "http://127."]))
def test_any_text_is_either_refused_or_read_the_same_twice(text: str, start: str) -> None:
    try:
        target = check_url(start + text)
    except Refused:
        return
    assert check_url(target.url) == target
    assert target.host.isascii()
