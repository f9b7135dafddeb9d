"""The page as an app of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


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
