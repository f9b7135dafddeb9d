"""What a reader can do beyond an answer: share one, and try the models."""

from __future__ import annotations

from typing import Any

import pytest

from ragweave.tests.page.test_axe import findings

expect = pytest.importorskip("playwright.sync_api").expect


def test_the_models_that_are_set_up_can_be_tried(window: Any) -> None:
    page = window()
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("button", name="Models").click()
    dialog = page.get_by_role("dialog", name="Models")
    dialog.get_by_role("button", name="Try it: Encodes text").click()
    expect(dialog.get_by_text("It encodes in")).to_be_visible(timeout=30_000)
    expect(dialog.get_by_text("scripted").first).to_be_visible()
    expect(dialog.get_by_text("The one that writes, because RAGWEAVE_JUDGE is not set.")).to_be_visible()
    dialog.get_by_role("button", name="Try it: understudy").click()
    expect(dialog.get_by_text("It answers “")).to_be_visible(timeout=30_000)
    assert findings(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_link_is_made_listed_and_taken_back(window: Any, ask: Any, scheme: str) -> None:
    page = window(color_scheme=scheme, reduced_motion="reduce")
    made = {"id": "1", "thread": "t", "title": "The lamp", "created": "2026-01-01", "expires": "2026-01-08T00:00:00Z"}
    held = [made]
    page.route("**/api/me", lambda route: route.fulfill(json={**route.fetch().json(), "keyed": True}))
    page.route(
        "**/api/threads/*/share", lambda route: route.fulfill(status=201, json={**made, "url": "http://x/shared/s"})
    )
    page.route("**/api/shares", lambda route: route.fulfill(json={"shares": held}))
    page.route("**/api/shares/1", lambda route: (held.clear(), route.fulfill(status=204)))
    page.reload()
    ask(page, "When was the lamp of the lighthouse first lit?").get_by_role("button", name="Share by a link").click()
    dialog = page.get_by_role("dialog", name="Share by a link")
    dialog.get_by_role("button", name="Make a link").click()
    expect(dialog.get_by_label("The link", exact=True)).to_have_value("http://x/shared/s")
    expect(dialog.get_by_text("until 8 Jan 2026")).to_be_visible()
    assert findings(page) == []
    dialog.get_by_role("button", name="Take back the link to The lamp").click()
    expect(dialog.get_by_text("until 8 Jan 2026")).to_have_count(0)
