"""The page as an app of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

expect = pytest.importorskip("playwright.sync_api").expect


def test_the_manifest_names_what_a_browser_needs_to_install_the_page(window: Callable[..., Any], site: Any) -> None:
    page = window()
    told = page.request.get(site.url + page.locator("link[rel=manifest]").get_attribute("href"))
    assert told.headers["content-type"].startswith("application/manifest+json")
    manifest = told.json()
    assert manifest["display"] == "standalone" and manifest["start_url"] == "/"
    for icon in manifest["icons"]:
        sent = page.request.get(site.url + icon["src"])
        assert sent.ok and sent.headers["content-type"] == icon["type"]
    assert {"192x192", "512x512"} <= {icon["sizes"] for icon in manifest["icons"]}


def test_something_is_painted_while_the_page_is_put_together(window: Callable[..., Any]) -> None:
    page = window()
    held: list[Any] = []
    page.route("**/api/me", lambda route: held.append(route))
    with page.expect_request("**/api/me"):
        page.reload(wait_until="commit")
    expect(page.locator(".starting img")).to_be_visible()
    expect(page.locator("#app")).to_be_hidden()
    for route in held:
        route.continue_()
    expect(page.locator("#question")).to_be_visible()
    expect(page.locator(".starting")).to_be_hidden()
