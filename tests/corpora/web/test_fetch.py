from __future__ import annotations

import datetime
import ssl
from pathlib import Path
from typing import Any

import pytest

from ragweave.corpora.web.fetch import MAX_REDIRECTS, Fetcher
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
