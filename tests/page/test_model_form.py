"""The form that sets models up: a server's models, a trial, saving, and an answer of the model without a restart."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ragweave.tests.page.conftest import Site, serving
from ragweave.tests.page.test_axe import findings
from ragweave.tests.support.server import ScriptedServer

expect = pytest.importorskip("playwright.sync_api").expect
SECRET = "sk-page"


@dataclass(frozen=True)
class Bare:
    """A server without a chat model, and one of models that could be its."""

    url: str
    settings: Path
    model: ScriptedServer


@pytest.fixture
def bare(site: Site, tmp_path: Path) -> Iterator[Bare]:
    home = tmp_path / "page home"
    shutil.copytree(site.home, home)
    with ScriptedServer(react=lambda _: "ready", models=["qwen3:4b", "gemma3:1b"]) as model:
        model.key = SECRET
        env = {k: v for k, v in os.environ.items() if not k.startswith("RAGWEAVE_")}
        env |= {"RAGWEAVE_HOME": str(home), "XDG_CONFIG_HOME": str(tmp_path / "own"), "PYTHONUNBUFFERED": "1"}
        with serving(env, tmp_path) as url:
            yield Bare(url, tmp_path / "own" / "ragweave" / "settings.env", model)


@pytest.fixture
def opened(bare: Bare, browser: Any) -> Iterator[Callable[..., Any]]:
    contexts: list[Any] = []

    def window(**options: Any) -> Any:
        size = {"viewport": {"width": 1280, "height": 900}, **options}
        contexts.append(browser.new_context(service_workers="block", **size))
        contexts[-1].set_default_timeout(30_000)
        page = contexts[-1].new_page()
        page.goto(bare.url)
        page.wait_for_selector("#question")
        page.get_by_role("button", name="Menu").click()
        page.get_by_role("button", name="Models").click()
        return page

    yield window
    for context in contexts:
        context.close()


def test_a_language_model_is_set_up_in_the_page_and_is_the_one_that_answers_next(
    bare: Bare, opened: Callable[..., Any]
) -> None:
    page = opened()
    page.get_by_role("dialog").get_by_role("button", name="Set up a language model").click()
    form = page.get_by_role("dialog", name="Language model")
    form.get_by_label("Key, if it wants one").fill("sk-wrong")
    form.get_by_label("Address of the server").fill(bare.model.base_url.removesuffix("/v1"))
    form.get_by_role("button", name="List its models").click()
    expect(form.get_by_role("alert")).to_contain_text("refused the key (401)")
    form.get_by_label("Key, if it wants one").fill(SECRET)
    form.get_by_role("button", name="List its models").click()
    listed = form.get_by_role("combobox", name="Model")
    expect(listed).to_be_visible()
    listed.select_option("gemma3:1b")
    expect(form.get_by_role("alert")).to_have_count(0)
    assert findings(page) == []
    form.get_by_role("button", name="Try and save it").click()
    expect(form.get_by_text("gemma3:1b says: ready")).to_be_visible()
    expect(form.get_by_text("Saved: gemma3:1b is used from now on.")).to_be_visible()
    expect(form.get_by_text("gemma3:1b judged 40 of 40 sentences of the exam right")).to_be_visible()
    expect(form.get_by_text("answers judged")).to_have_count(0)
    assert f"RAGWEAVE_CHAT_KEY='{SECRET}'" in bare.settings.read_text()
    assert SECRET not in page.content()
    page.keyboard.press("Escape")
    expect(
        page.get_by_role("dialog", name="Models").get_by_text("gemma3:1b · 127.0.0.1").first
    ).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("gemma3:1b").first).to_be_visible()
    asked = len(bare.model.requests)
    page.fill("#question", "When was the lamp lit?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".turn.over", timeout=60_000)
    assert len(bare.model.requests) > asked


def test_an_encoder_tells_how_long_it_takes_to_index_again_before_it_is_saved(
    bare: Bare, opened: Callable[..., Any]
) -> None:
    page = opened()
    page.get_by_role("button", name="Set up: Encodes text").click()
    form = page.get_by_role("dialog", name="Text encoder")
    form.get_by_label("Address of the server").fill(bare.model.base_url)
    form.get_by_label("Key, if it wants one").fill(SECRET)
    form.get_by_role("button", name="List its models").click()
    form.get_by_role("combobox", name="Model").select_option("qwen3:4b")
    form.get_by_role("button", name="Try and save it").click()
    expect(form.get_by_text("To index again takes about a minute")).to_be_visible()
    assert not bare.settings.exists()
    form.get_by_role("button", name="Index again and save").click()
    expect(form.get_by_text("Saved: qwen3:4b is used from now on.")).to_be_visible(timeout=60_000)
    assert "RAGWEAVE_EMBED='qwen3:4b'" in bare.settings.read_text()


def test_the_form_fits_a_telephone_and_says_what_the_environment_sets(
    bare: Bare, opened: Callable[..., Any], window: Callable[..., Any]
) -> None:
    page = opened()
    page.set_viewport_size({"width": 390, "height": 780})
    page.get_by_role("button", name="Set up: Writes down speech").click()
    form = page.get_by_role("dialog", name="Speech")
    expect(form.get_by_role("button", name="Try and save it")).to_be_visible()
    assert page.evaluate("document.querySelector('dialog:last-of-type').scrollWidth <= window.innerWidth")
    assert findings(page) == []
    page = window()
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("button", name="Models").click()
    page.get_by_role("button", name="Set up: Writes", exact=True).click()
    expect(page.get_by_text("RAGWEAVE_CHAT is set in the environment")).to_be_visible()
