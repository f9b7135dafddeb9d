"""The models that are set up, and how they are tried."""

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
