from __future__ import annotations

import asyncio
import datetime
import gzip
import os
import ssl
import zlib
from pathlib import Path
from typing import Any

import pytest

from ragweave.corpora.web.fetch import MAX_REDIRECTS, Fetcher, looks_binary
from ragweave.corpora.web.types import Refused
from ragweave.models.errors import WebError


class Names:
    """A resolver that gives each name's answers in turn and counts the look-ups."""

    def __init__(self, **answers: list[list[str]]) -> None:
        self.answers = {name.replace("_", "."): rows for name, rows in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        rows = self.answers[host]
        return rows.pop(0) if len(rows) > 1 else rows[0]


def local(**options: object) -> Fetcher:
    return Fetcher(allow_loopback=True, **{"timeout": 5.0, **options})  # type: ignore[arg-type]


async def test_a_page_is_fetched_with_its_type_and_charset(site: Any) -> None:
    site.routes["/"] = site.http("<p>héllo</p>", type="Text/HTML; Charset=UTF-8")
    body = await local().fetch(site.url("/#part"))
    assert (body.data.decode(), body.type, body.charset) == ("<p>héllo</p>", "text/html", "utf-8")
    assert body.url == site.url("/")


async def test_without_the_argument_loopback_is_refused_and_not_touched(site: Any) -> None:
    site.routes["/"] = site.http("secret")
    for url in (site.url("/"), site.url("/", "localhost"), site.url("/", "[::1]")):
        with pytest.raises(Refused):
            await Fetcher().fetch(url)
    assert site.seen == []


async def test_no_setting_and_no_variable_opens_loopback(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    site.routes["/"] = site.http("secret")
    for name in ("RAGWEAVE_WEB_ALLOW_LOOPBACK", "RAGWEAVE_ALLOW_LOOPBACK", "ALLOW_LOOPBACK"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("HTTP_PROXY", site.url(""))
    monkeypatch.setenv("ALL_PROXY", site.url(""))
    names = Names(**{"site_example": [["127.0.0.1"]]})
    with pytest.raises(Refused, match="loopback"):
        await Fetcher(resolver=names).fetch("http://site.example/")
    assert site.seen == []


@pytest.mark.parametrize(
    "answer",
    [
        "127.0.0.1",
        "10.0.0.5",
        "169.254.169.254",
        "100.64.0.1",
        "::1",
        "fd00:ec2::254",
        "::ffff:127.0.0.1",
        "64:ff9b::a00:1",
    ],
)
async def test_a_name_that_resolves_to_a_private_address_is_refused(answer: str) -> None:
    with pytest.raises(Refused, match=r"site\.example leads to"):
        await Fetcher(resolver=Names(site_example=[[answer]])).fetch("http://site.example/")


@pytest.mark.parametrize(
    "location",
    [
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "//192.168.1.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://0x7f.1/",
        "http://2130706433/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_FLUSHALL",
        "http://user@site.example/",
        "http://metadata.google.internal/",
        "http://site.example\\@10.0.0.1/",
    ],
)
async def test_a_redirect_to_what_must_not_be_fetched_is_refused(site: Any, location: str) -> None:
    site.routes["/"] = site.redirect(location)
    with pytest.raises(Refused):
        await local().fetch(site.url("/"))
    assert site.paths() == ["/"]


@pytest.mark.parametrize("location", ["http://[::1", "http://site.example:port/", "http://exa mple/"])
async def test_a_redirect_that_cannot_be_read_is_an_error(site: Any, location: str) -> None:
    site.routes["/"] = site.redirect(location)
    with pytest.raises(WebError):
        await local().fetch(site.url("/"))
    assert site.paths() == ["/"]


async def test_a_redirect_from_a_public_page_to_loopback_is_refused(site: Any) -> None:
    """The first hop is let through by a fetcher that allows loopback; the check of the second hop is the real one."""
    site.routes["/"] = site.redirect("http://127.0.0.1/admin")
    fetcher = local()
    check = fetcher.check
    strict = Fetcher().check
    fetcher.check = lambda url: check(url) if url == site.url("/") else strict(url)  # type: ignore[method-assign]
    with pytest.raises(Refused, match="loopback"):
        await fetcher.fetch(site.url("/"))
    assert site.paths() == ["/"]


async def test_redirects_are_followed_up_to_the_limit(site: Any) -> None:
    for i in range(MAX_REDIRECTS):
        site.routes[f"/{i}"] = site.redirect(f"{i + 1}" if i % 2 else f"/{i + 1}", status="308 Permanent Redirect")
    site.routes[f"/{MAX_REDIRECTS}"] = site.http("arrived")
    body = await local().fetch(site.url("/0"))
    assert (body.data, body.url) == (b"arrived", site.url(f"/{MAX_REDIRECTS}"))


async def test_a_redirect_loop_ends(site: Any) -> None:
    site.routes["/"] = site.redirect("/")
    with pytest.raises(WebError, match="more than 5 times"):
        await local().fetch(site.url("/"))
    assert len(site.seen) == MAX_REDIRECTS + 1


async def test_the_connection_goes_to_the_address_that_was_checked(site: Any) -> None:
    """The resolver changes its answer after the first look-up; only that first answer is connected to."""
    site.routes["/"] = site.http("right")
    names = Names(site_example=[["127.0.0.1"], ["10.0.0.1"]])
    body = await local(resolver=names).fetch(f"http://site.example:{site.port}/")
    assert body.data == b"right"
    assert names.asked == ["site.example"], "one look-up for one hop"
    assert f"Host: site.example:{site.port}".lower() in site.seen[0].lower()


async def test_a_name_that_rebinds_between_two_hops_is_refused_at_the_second(site: Any) -> None:
    site.routes["/"] = site.redirect("/again")
    site.routes["/again"] = site.http("never read")
    names = Names(site_example=[["127.0.0.1"], ["10.0.0.1"]])
    with pytest.raises(Refused, match=r"10\.0\.0\.1"):
        await local(resolver=names).fetch(f"http://site.example:{site.port}/")
    assert site.paths() == ["/"]


async def test_the_next_checked_address_is_tried_when_the_first_does_not_answer(site: Any) -> None:
    site.routes["/"] = site.http("found")
    names = Names(site_example=[["127.0.0.3", "127.0.0.1"]])
    body = await local(resolver=names).fetch(f"http://site.example:{site.port}/")
    assert body.data == b"found"


async def test_an_unknown_name_is_a_sentence() -> None:
    async def nothing(host: str, port: int) -> list[str]:
        raise WebError(f"The name {host} was not found")

    with pytest.raises(WebError, match=r"The name gone\.example was not found\."):
        await Fetcher(resolver=nothing).fetch("http://gone.example/")


async def _drip(writer: asyncio.StreamWriter, piece: bytes, pause: float) -> None:
    while not writer.is_closing():
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(pause)


async def test_an_endless_body_stops_at_the_limit(site: Any) -> None:
    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        await _drip(writer, b"x" * 65536, 0)

    site.routes["/"] = endless
    with pytest.raises(WebError, match="larger than 300,000 bytes"):
        await local(max_bytes=300_000).fetch(site.url("/"))


@pytest.mark.parametrize(
    "start",
    [b"", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"],
    ids=["status", "headers", "body"],
)
async def test_a_page_that_drips_is_given_up_at_the_deadline(site: Any, start: bytes) -> None:
    async def slow(writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        await _drip(writer, b"x", 0.02)

    site.routes["/"] = slow
    with pytest.raises(WebError, match=r"did not answer within 0\.3 s"):
        await local(timeout=0.3).fetch(site.url("/"))


async def test_the_deadline_counts_over_redirects(site: Any) -> None:
    async def slow(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.15)
        writer.write(site.redirect("/"))

    site.routes["/"] = slow
    with pytest.raises(WebError, match=r"did not answer within 0\.4 s"):
        await local(timeout=0.4).fetch(site.url("/"))
    assert len(site.seen) <= 3


async def test_a_slow_look_up_is_given_up_at_the_deadline() -> None:
    async def slow(host: str, port: int) -> list[str]:
        await asyncio.sleep(60)
        return []

    with pytest.raises(WebError, match="did not answer"):
        await Fetcher(timeout=0.1, resolver=slow).fetch("http://site.example/")


def _bomb(size: int) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    block = b"\0" * 1_000_000
    return b"".join(packer.compress(block) for _ in range(size // len(block))) + packer.flush()


async def test_a_gzip_bomb_is_stopped_before_it_unfolds(site: Any) -> None:
    import tracemalloc

    site.routes["/"] = site.http(_bomb(200_000_000), Content_Encoding="gzip")
    fetcher = local(max_bytes=1_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(WebError, match="larger than 1,000,000 bytes"):
            await fetcher.fetch(site.url("/"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 30_000_000


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "deflate"])
async def test_compressed_pages_are_unpacked(site: Any, coding: str) -> None:
    text = os.urandom(70_000).hex().encode()
    packed = zlib.compress(text) if coding == "deflate" else gzip.compress(text)
    site.routes["/"] = site.http(packed, Content_Encoding=coding)
    assert (await local().fetch(site.url("/"))).data == text


async def test_bare_deflate_is_unpacked(site: Any) -> None:
    packer = zlib.compressobj(wbits=-15)
    site.routes["/"] = site.http(packer.compress(b"<p>hello</p>" * 50) + packer.flush(), Content_Encoding="deflate")
    assert (await local().fetch(site.url("/"))).data == b"<p>hello</p>" * 50


@pytest.mark.parametrize(
    ("body", "coding", "why"),
    [
        (b"not packed at all", "gzip", "cannot be unpacked"),
        (gzip.compress(b"words " * 5000)[:40], "gzip", "in the middle"),
        (gzip.compress(gzip.compress(b"words")), "gzip, gzip", "was not asked for"),
        (b"\x28\xb5\x2f\xfd", "zstd", "was not asked for"),
        (b"\x1b", "br", "was not asked for"),
    ],
)
async def test_broken_or_unasked_codings_are_errors(site: Any, body: bytes, coding: str, why: str) -> None:
    site.routes["/"] = site.http(body, Content_Encoding=coding)
    with pytest.raises(WebError, match=why):
        await local().fetch(site.url("/"))


@pytest.mark.parametrize("type", ["application/pdf", "image/png", "application/json", "application/octet-stream", "x"])
async def test_other_types_than_text_are_not_read(site: Any, type: str) -> None:
    site.routes["/"] = site.http(b"anything", type=type)
    with pytest.raises(WebError, match="not a text page"):
        await local().fetch(site.url("/"))


@pytest.mark.parametrize(
    "data",
    [b"%PDF-1.7\n", b"\x89PNG\r\n\x1a\n", b"PK\x03\x04", b"\x7fELF\x02", b"\x1f\x8b\x08\x00", b"GIF89a\x01\x00\x01"],
)
@pytest.mark.parametrize("type", ["text/html", "text/plain", ""])
async def test_what_calls_itself_text_and_is_not_is_told_by_its_bytes(site: Any, data: bytes, type: str) -> None:
    site.routes["/"] = site.http(data, type=type)
    with pytest.raises(WebError, match="something else than a text page"):
        await local().fetch(site.url("/"))


async def test_a_text_without_a_declared_type_is_read(site: Any) -> None:
    site.routes["/"] = site.http("plain words", type="")
    assert (await local().fetch(site.url("/"))).type == ""


def test_utf16_is_no_binary() -> None:
    assert not looks_binary("hello".encode("utf-16"))
    assert not looks_binary("hello".encode("utf-16-le"), "utf-16le")
    assert looks_binary("hello".encode("utf-16-le"))


@pytest.mark.parametrize(
    "status", ["401 Unauthorized", "404 Not Found", "429 Too Many Requests", "500 Oops", "204 No", "304 Same"]
)
async def test_an_error_status_is_a_sentence_that_names_it(site: Any, status: str) -> None:
    site.routes["/"] = site.http("<h1>Sorry</h1>", status=status)
    with pytest.raises(WebError, match=f"answered with status {status[:3]}"):
        await local().fetch(site.url("/"))


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\nContent-Type: text/html\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/html\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
    ],
    ids=["nothing", "garbage", "cut off", "bad chunk", "huge header"],
)
async def test_broken_answers_are_errors(site: Any, answer: bytes) -> None:
    site.routes["/"] = answer
    with pytest.raises(WebError, match="could not be reached"):
        await local().fetch(site.url("/"))


async def test_a_closed_port_is_an_error(site: Any) -> None:
    await site.stop()
    with pytest.raises(WebError, match="could not be reached"):
        await local().fetch(site.url("/"))


async def test_nothing_of_the_person_is_sent(site: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    site.routes["/"] = site.http("x", Set_Cookie="id=1; Path=/")
    fetcher = local()
    await fetcher.fetch(site.url("/"))
    await fetcher.fetch(site.url("/"))
    for head in site.seen:
        assert not {"authorization", "cookie", "referer"} & {line.split(":")[0].lower() for line in head.split("\r\n")}


@pytest.fixture
async def tls_site(tmp_path: Path, sites: Any) -> tuple[Any, ssl.SSLContext, list[str | None]]:
    """A site with a certificate for site.example, and a context that trusts it."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "site.example")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("site.example")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = tmp_path / "site.pem"
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    pem.write_bytes(private + certificate.public_bytes(encoding))
    served: list[str | None] = []
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(pem)
    server.sni_callback = lambda _socket, name, _context: served.append(name)
    site = await sites(server)
    trusting = ssl.create_default_context(cadata=certificate.public_bytes(encoding).decode())
    return site, trusting, served


async def test_tls_keeps_the_name_while_the_address_is_pinned(
    tls_site: tuple[Any, ssl.SSLContext, list[str | None]],
) -> None:
    site, trusting, served = tls_site
    site.routes["/"] = site.http("over tls")
    names = Names(site_example=[["127.0.0.1"]])
    body = await local(resolver=names, tls=trusting).fetch(f"https://site.example:{site.port}/")
    assert (body.data, served) == (b"over tls", ["site.example"])


async def test_tls_refuses_a_certificate_of_another_name(
    tls_site: tuple[Any, ssl.SSLContext, list[str | None]],
) -> None:
    site, trusting, _ = tls_site
    site.routes["/"] = site.http("never read")
    names = Names(other_example=[["127.0.0.1"]])
    with pytest.raises(WebError, match="could not be reached"):
        await local(resolver=names, tls=trusting).fetch(f"https://other.example:{site.port}/")
    assert site.seen == []


async def test_a_literal_address_is_not_looked_up(site: Any) -> None:
    site.routes["/"] = site.http("x")
    names = Names()
    await local(resolver=names).fetch(site.url("/"))
    assert names.asked == []
