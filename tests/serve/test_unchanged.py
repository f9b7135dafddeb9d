"""What a browser holds is not sent again, and a range that says nothing is none."""

from __future__ import annotations

import httpx
import pytest

from ragweave.serve.routes_page import CSP

VAIN = ("bytes=9-2", "items=0-1", "bytes=", "bytes", "bytes=-", "bytes=x-y", "bytes=0-1,9-2", f"bytes={'9' * 5000}-")


async def _media(client: httpx.AsyncClient) -> str:
    return str((await client.get("/api/sources?library=default")).json()["sources"][0]["media"])


@pytest.mark.parametrize("path", ["a file", "/", "/sw.js", "/static/js/api.js"])
async def test_what_a_client_holds_is_not_sent_again(client: httpx.AsyncClient, path: str) -> None:
    path = await _media(client) if path == "a file" else path
    whole = await client.get(path)
    etag, lasting = whole.headers["etag"], {"content-security-policy", "cache-control", "etag"}
    for held in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        again = await client.get(path, headers={"if-none-match": held, "range": "bytes=0-1"})
        assert (again.status_code, again.content) == (304, b""), held
        assert {k: again.headers[k] for k in lasting} == {k: whole.headers[k] for k in lasting}
    for other in ('"other"', "W/"):
        given = {"if-none-match": other, "if-modified-since": "Fri, 01 Jan 2100 00:00:00 GMT"}
        assert (await client.get(path, headers=given)).content == whole.content, other
    if path == "/":
        assert again.headers["x-ragweave-page"] == whole.headers["x-ragweave-page"] and CSP in str(again.headers)


async def test_a_file_that_has_not_changed_since_a_date_is_not_sent_again(client: httpx.AsyncClient) -> None:
    path = await _media(client)
    whole = await client.get(path)
    for since in (whole.headers["last-modified"], "Fri, 01 Jan 2100 00:00:00 GMT"):
        assert (await client.get(path, headers={"if-modified-since": since})).status_code == 304
    for since in ("Thu, 01 Jan 1970 00:00:00 GMT", "yesterday", "", "Fri, 99 Foo 99999 99:99:99 +9999999"):
        assert (await client.get(path, headers={"if-modified-since": since})).content == whole.content, since


async def test_a_range_that_says_nothing_is_none(client: httpx.AsyncClient) -> None:
    path = await _media(client)
    whole = (await client.get(path)).content
    for vain in VAIN:
        answer = await client.get(path, headers={"range": vain})
        assert (answer.status_code, answer.content) == (200, whole), vain
    for given, part in (("bytes=2-9", whole[2:10]), ("bytes=-5", whole[-5:]), ("BYTES= 2-2 ", whole[2:3])):
        answer = await client.get(path, headers={"range": given})
        assert (answer.status_code, answer.content) == (206, part), given
    several = await client.get(path, headers={"range": "bytes=0-1, 4-5"})
    assert several.status_code == 206 and "multipart/byteranges" in several.headers["content-type"]
    assert (await client.get(path, headers={"range": "bytes=9999-"})).status_code == 416
