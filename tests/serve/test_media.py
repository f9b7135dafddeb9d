"""Files as they are: inert in a browser, in ranges, held by a client, and no way out of the store."""

from __future__ import annotations

import httpx
import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import open_library
from ragweave.serve.routes_page import CSP
from ragweave.tests.serve.test_routes_pdf import COUNCIL
from ragweave.tests.serve.test_uploads import upload

PAGE = b"<script>alert(1)</script><p>The mill was built in 1702.</p>"
DRAWING = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><text>The mill</text></svg>'
VAIN = (
    "bytes=9-2",
    "items=0-1",
    "bytes=",
    "bytes",
    "bytes=-",
    "bytes=x-y",
    "bytes=0-1,9-2",
    f"bytes={'9' * 5000}-",
)


async def _media(client: httpx.AsyncClient) -> dict[str, str]:
    rows = (await client.get("/api/sources?library=default")).json()["sources"]
    return {row["name"]: row["media"] for row in rows}


async def test_what_a_file_would_run_it_does_not_run_in_the_browser(client: httpx.AsyncClient) -> None:
    await upload(client, ("page.html", PAGE), ("drawing.svg", DRAWING))
    await index([COUNCIL], "default")
    media = await _media(client)
    for name, kind, shown in (
        ("page.html", "text/plain; charset=utf-8", "inline"),
        ("drawing.svg", "text/plain; charset=utf-8", "inline"),
        ("ferry.md", "text/plain; charset=utf-8", "inline"),
        (COUNCIL.name, "application/pdf", "attachment"),
    ):
        sent = await client.get(media[name])
        assert (sent.headers["content-type"], sent.headers["content-disposition"].split(";")[0]) == (
            kind,
            shown,
        ), name
        assert sent.headers["content-security-policy"].startswith("sandbox; default-src 'none'"), name
        assert sent.headers["x-content-type-options"] == "nosniff", name
    page = await client.get(f"{media[COUNCIL.name]}/page/1")
    assert page.headers["content-type"] == "image/png" and "content-disposition" not in page.headers


async def test_a_file_is_sent_in_ranges_and_a_range_that_says_nothing_is_none(
    client: httpx.AsyncClient,
) -> None:
    path = (await _media(client))["ferry.md"]
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
    assert (await client.head(path)).headers["content-length"] == str(len(whole))


@pytest.mark.parametrize("path", ["a file", "/", "/sw.js", "/static/js/api.js"])
async def test_what_a_client_holds_is_not_sent_again(client: httpx.AsyncClient, path: str) -> None:
    path = (await _media(client))["ferry.md"] if path == "a file" else path
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
        assert again.headers["x-ragweave-page"] == whole.headers["x-ragweave-page"] and CSP in str(
            again.headers
        )
    if path.startswith("/media"):
        for since, status in (
            (whole.headers["last-modified"], 304),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 200),
            ("", 200),
        ):
            assert (await client.get(path, headers={"if-modified-since": since})).status_code == status, since


async def test_no_address_leads_out_of_the_store(client: httpx.AsyncClient) -> None:
    library = await open_library("default")
    (source, *_) = await library.sources()
    for path in (
        "/media/{lib}/source/..%2f..%2fetc%2fpasswd",
        "/media/{lib}/source/%2e%2e",
        "/media/..%2f..%2fetc/source/passwd",
        "/media/{lib}/picture/../../catalog.sqlite",
        "/media/{lib}/picture/{source}/..%2f..%2fcatalog.sqlite",
        "/media/{lib}/picture/{source}/.hidden",
        "/static/..%2f..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/langserve/agent/playground/..%2f..%2fserver.py",
    ):
        answer = await client.get(path.format(lib=library.id, source=source.id))
        assert answer.status_code in (400, 404), path
        assert "root:" not in answer.text and "SQLite" not in answer.text
