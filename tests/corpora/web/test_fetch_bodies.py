"""Slow, endless, packed and broken answers."""

from __future__ import annotations

import asyncio
import gzip
from typing import Any

import pytest

from ragweave.corpora.web.fetch import Fetcher, looks_binary
from ragweave.models.errors import WebError


def local(**options: object) -> Fetcher:
    return Fetcher(allow_loopback=True, **{"timeout": 5.0, **options})  # type: ignore[arg-type]


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


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "deflate", "gzip, gzip", "zstd", "br"])
async def test_pages_are_asked_for_unpacked_and_never_unfolded(site: Any, coding: str) -> None:
    site.routes["/"] = site.http(gzip.compress(b"words " * 1_000_000), Content_Encoding=coding)
    with pytest.raises(WebError, match="was not asked for"):
        await local().fetch(site.url("/"))
    assert "accept-encoding: identity" in site.seen[0].lower()


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
