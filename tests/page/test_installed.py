"""The page as an app of its own."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

expect = pytest.importorskip("playwright.sync_api").expect


def test_the_manifest_names_what_a_browser_needs_to_install_the_page(window: Any, site: Any) -> None:
    page = window()
    told = page.request.get(site.url + page.locator("link[rel=manifest]").get_attribute("href"))
    assert told.headers["content-type"].startswith("application/manifest+json")
    manifest = told.json()
    assert manifest["display"] == "standalone" and manifest["start_url"] == "/"
    for icon in manifest["icons"]:
        sent = page.request.get(site.url + icon["src"])
        assert sent.ok and sent.headers["content-type"] == icon["type"]
    assert {"192x192", "512x512"} <= {icon["sizes"] for icon in manifest["icons"]}


def until(page: Any, holds: str, given: Any = None) -> None:
    """Wait until a function of the page tells that something is so; its policy lets no other way of waiting through."""
    for _ in range(300):
        if page.evaluate(holds, given):
            return
        page.wait_for_timeout(100)
    raise AssertionError(holds)


class Way:
    """A way to the server that can be cut; `swap` replaces bytes of what comes back."""

    def __init__(self, url: str) -> None:
        self._to = ("127.0.0.1", int(url.rpartition(":")[2]))
        self.swap = (b"", b"")
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, far = self._listener.accept()[0], socket.create_connection(self._to)
                self._open += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while part := one.recv(1 << 16):
                other.sendall(part.replace(*self.swap) if self.swap[0] else part)
            other.shutdown(socket.SHUT_WR)

    def cut(self) -> None:
        """Be as a server that has ended."""
        for one in (self._listener, *self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@pytest.fixture
def installed(window: Any, ask: Any, site: Any) -> Iterator[tuple[Way, Any]]:
    """A way to the server, and a window over it whose service worker is at work and in which was asked."""
    way = Way(site.url)
    page = window(strict=False, service_workers="allow")
    page.goto(way.url)
    until(page, "() => navigator.serviceWorker.controller !== null")
    ask(page, "When was the lamp of the lighthouse first lit?")
    until(page, "async () => (await caches.keys()).some((name) => name.startsWith('kept '))")
    held = "async (id) => !!(await caches.match(`/api/threads/${id}`))"
    until(page, held, page.url.rpartition("/")[2])
    yield way, page
    way.cut()


def test_what_was_opened_is_read_while_the_server_is_away(installed: tuple[Way, Any]) -> None:
    way, page = installed
    way.cut()
    page.reload()
    expect(page.locator(".turn.over .answer")).to_contain_text("3 October 1874")
    expect(page.get_by_text("The server cannot be reached. This is a copy")).to_be_visible()
    page.fill("#question", "And who kept it?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")


def test_no_copy_is_kept_for_another_key(installed: tuple[Way, Any]) -> None:
    way, page = installed
    way.swap = (b"x-ragweave-caller: owner", b"x-ragweave-caller: other")
    page.goto(f"{way.url}/?#/")
    until(page, "async () => (await caches.keys()).includes('kept other')")
    names = page.evaluate("caches.keys()")
    assert [name for name in names if name.startswith("kept ")] == ["kept other"]
    assert not page.evaluate(
        "async () => (await (await caches.open('kept other')).keys()).some(({url}) => /threads./.test(url))"
    )


def test_a_refused_key_and_a_deleted_conversation_take_their_copies_with_them(
    installed: tuple[Way, Any],
) -> None:
    way, page = installed
    held = (
        "async () => (await (await caches.open('kept owner')).keys()).filter(({url}) =>"
        " /threads./.test(url)).length"
    )
    assert page.evaluate(held) > 0
    here = page.locator(".thread.here")
    here.hover()
    here.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    until(page, f"async () => !(await ({held})())")
    way.swap = (b"HTTP/1.1 200 OK", b"HTTP/1.1 401 OK")
    page.evaluate("fetch('/api/me')")
    until(page, "async () => !(await caches.keys()).some((name) => name.startsWith('kept '))")


def test_an_answer_that_is_slower_than_whoever_leaves_is_not_kept(installed: tuple[Way, Any]) -> None:
    _, page = installed
    leaving = (
        "fetch('/api/logout', {method: 'POST', headers: {'content-type': 'application/json'}, body: '{}'})"
    )
    page.evaluate(f"async () => {{ const asked = fetch('/api/threads'); await {leaving}; await asked; }}")
    page.evaluate("fetch('/api/threads')")  # and so does what a page asks that has not heard of it
    page.wait_for_timeout(1_000)
    assert not [name for name in page.evaluate("caches.keys()") if name.startswith("kept ")]
    page.reload()
    until(page, "async () => (await caches.keys()).includes('kept owner')")


def test_what_is_read_as_the_page_is_installed_is_not_kept_for_whoever_leaves_meanwhile(
    installed: tuple[Way, Any],
) -> None:
    _, page = installed
    page.context.service_workers[-1].evaluate("""async () => {
          const sent = fetch;
          self.fetch = async (...asked) => {
            const told = await sent(...asked);
            session = null;
            await forget((name) => name.startsWith(KEPT));
            return told;
          };
          await begin();
        }""")
    assert not [name for name in page.evaluate("caches.keys()") if name.startswith("kept ")]


def test_a_page_of_another_version_is_never_put_together_from_files_that_were_kept(
    installed: tuple[Way, Any],
) -> None:
    way, page = installed
    digest = page.request.get(way.url).headers["x-ragweave-page"]
    sent = page.request.get(way.url + "/sw.js")
    assert digest in sent.text() and sent.headers["cache-control"] == "no-cache"
    way.swap = (f"x-ragweave-page: {digest}".encode(), b"x-ragweave-page: 0123456789abcdef")
    page.reload()
    page.wait_for_selector("#question")
    way.cut()
    assert page.evaluate("fetch('/static/js/main.js').then(() => 'kept', () => 'gone')") == "gone"
