"""The page in English, German and Chinese: by the browser's language or by choice, and in English where words lack."""

from __future__ import annotations

import re
from typing import Any

import pytest

expect = pytest.importorskip("playwright.sync_api").expect


def test_the_page_speaks_the_language_of_the_browser_and_another_by_choice(window: Any, ask: Any) -> None:
    page = window(locale="de-AT")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.get_by_role("button", name="Web aus")).to_be_visible()
    expect(page.locator(".documents time").first).to_have_text("1. Jan. 2024")
    turn = ask(page, "Wer leitet die Sternwarte von Ulm?")
    expect(turn.get_by_role("button", name="Weiter suchen")).to_be_visible()
    turn.locator(".trail > summary").click()
    steps = turn.locator(".trail").inner_text()
    assert re.search(r"Textstellen: \d+ gefunden in \d", steps) and re.search(r"\d von \d+ behalten", steps)
    assert "found" not in steps and "not yet" not in steps
    page.get_by_role("button", name="Menü").click()
    page.get_by_label("Sprache").select_option(label="中文")
    expect(page.locator("html")).to_have_attribute("lang", "zh")
    expect(page.get_by_role("heading", name="对话", exact=True)).to_be_visible()
    page.get_by_role("button", name="菜单").click()
    expect(page.get_by_label("语言")).to_have_value("zh")


def test_what_the_server_refuses_is_said_in_the_language_of_the_page(window: Any, site: Any) -> None:
    page = window(locale="de-DE")
    page.locator("button.library").click()
    page.get_by_role("button", name="Neue Bibliothek").click()
    page.get_by_label("Name der Bibliothek").fill("media")
    page.get_by_role("button", name="Anlegen").click()
    taken = (
        "Eine Bibliothek „media“ gibt es schon. Wählen Sie einen anderen Namen, oder fügen Sie dort hinzu."
    )
    expect(page.get_by_text(taken)).to_be_visible()
    page.get_by_label("Name der Bibliothek").fill("Mühlen")
    page.get_by_role("button", name="Anlegen").click()
    expect(page.locator("button.library .name")).to_have_text("Mühlen")
    page.keyboard.press("Escape")
    files = {"leer.txt": b"", "1. Teil.pdf": b"%PDF-1.7 broken"}
    sent = [{"name": name, "mimeType": "text/plain", "buffer": held} for name, held in files.items()]
    page.set_input_files("#picker", sent)
    # Why a file was not read is kept as it was written, in English.
    for told in ("leer.txt is empty", "1. Teil.pdf is a damaged or truncated PDF"):
        expect(page.locator(".board").get_by_text(told)).to_be_visible(timeout=60_000)
        expect(page.locator(".source-list").get_by_text(told)).to_be_visible()
    page.goto(site.url + "/#/t/none")
    expect(page.locator("#toasts")).to_contain_text(
        "Dieses Gespräch gibt es nicht. Vielleicht wurde es gelöscht;"
    )
    rows = page.request.get(site.url + "/api/libraries").json()["libraries"]
    (made,) = [row for row in rows if row["name"] == "Mühlen"]
    assert page.request.delete(f"{site.url}/api/libraries/{made['id']}").ok
