"""Libraries, uploads, sources and settings."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ragweave.tests.page.test_axe import findings
from ragweave.tests.support.exports import slack

expect = pytest.importorskip("playwright.sync_api").expect


def test_files_are_dropped_in_and_a_bad_one_says_why_while_the_rest_is_indexed(
    window: Any, ask: Any, site: Any, new_library: Any, tmp_path: Path
) -> None:
    site.script.questions = '{"summary": "A mill is told of."}'
    page = window()
    new_library(page, "mills")
    expect(page.get_by_text("Drop files or folders here")).to_be_visible()
    page.keyboard.press("Escape")
    transfer = page.evaluate_handle("""() => {
          const data = new DataTransfer();
          data.items.add(new File(["# The watermill\\n\\nThe watermill of Ostra was built in 1702.\\n"], "mill.md"));
          data.items.add(new File(["%PDF-1.7 broken"], "broken.pdf"));
          return data;
        }""")
    page.dispatch_event("body", "dragenter", {"dataTransfer": transfer})
    expect(page.get_by_text("Index into “mills”")).to_be_visible()
    page.dispatch_event("body", "drop", {"dataTransfer": transfer})
    board = page.locator(".board")
    expect(board.locator("h2")).to_have_text("1 file indexed, 1 could not be", timeout=60_000)
    expect(board.locator("li.bad")).to_contain_text("broken.pdf")
    assert len(board.locator("li.bad .state").inner_text()) > 20
    expect(board.locator("li.good")).to_contain_text("mill.md")
    board.get_by_role("button", name="Close").click()
    expect(page.locator(".about")).to_contain_text(
        "A mill is told of.", timeout=30_000
    )  # unasked, after an upload
    assert "1702" in ask(page, "When was the watermill of Ostra built?").inner_text()

    sources = page.get_by_role("region", name="Sources").first
    expect(sources.get_by_role("status")).to_have_text("2 sources, 1 could not be read")
    expect(sources.locator("li.failed .wrong")).to_be_visible()
    held: list[Any] = []
    for path in ("sources?*", "libraries/*"):
        page.route(
            f"**/api/{path}", lambda r: held.append(r) if r.request.method == "DELETE" else r.continue_()
        )
    sources.get_by_role("button", name="Remove broken.pdf").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(sources.locator("li", has_text="broken.pdf")).to_contain_text("Being removed")
    held.pop().continue_()
    expect(sources.get_by_role("status")).to_have_text("1 source")

    page.locator("button.library").click()
    page.get_by_role("button", name="Delete mills").click()
    page.get_by_role("button", name="Delete the library").click()
    mills = page.get_by_role("dialog").locator(".rows li", has_text="mills")
    expect(mills).to_contain_text("Being removed")
    held.pop().continue_()
    expect(mills).to_have_count(0)


def test_a_changed_file_can_take_the_place_of_the_earlier_one_and_what_cited_that_opens_it(
    window: Any, ask: Any
) -> None:
    page = window()

    def send(day: str) -> Any:
        note = f"# The kiln\n\nThe kiln of Ostra is fired on {day}."
        page.set_input_files(
            "#picker", {"name": "kiln.md", "mimeType": "text/markdown", "buffer": note.encode()}
        )
        return page.locator(".board", has_text="1 file indexed")

    send("Tuesdays").get_by_role("button", name="Close").click(timeout=60_000)
    question = "When is the kiln of Ostra fired?"
    turn = ask(page, question)
    assert "Tuesdays" in turn.inner_text()
    board = send("Fridays")
    expect(board.locator("li")).to_contain_text("beside the earlier file of that name", timeout=60_000)
    board.get_by_role("button", name="Remove the earlier one").click()
    kilns = page.get_by_role("region", name="Sources").first.locator("li", has_text="kiln")
    expect(kilns).to_have_count(1)
    expect(kilns).to_contain_text("kiln (2).md")
    page.reload()
    turn.get_by_role("button", name="Source 1: The kiln").click()
    expect(page.get_by_role("complementary")).to_contain_text("indexed again")
    page.get_by_role("button", name="Open kiln (2).md as it is now").click()
    expect(page.get_by_role("complementary")).to_contain_text("Fridays")


def test_while_pictures_and_recordings_are_read_the_tray_says_what_can_be_asked(window: Any) -> None:
    page = window()
    events = [
        {"type": "started", "total": 3},
        {"type": "done", "file": "notes.md", "items": 4},
        {"type": "later", "file": "slides.pdf", "stage": "picture", "total": 48, "items": 9},
        {"type": "later", "file": "film.mp4", "stage": "recording", "total": 1},
        {"type": "ready", "total": 2},
    ]
    job = {"job": "j1", "library": "default", "files": ["notes.md", "slides.pdf", "film.mp4"]}
    page.route("**/api/jobs", lambda route: route.fulfill(json={"jobs": [job]}))
    body = "".join(f"id: {n}\ndata: {json.dumps(event)}\n\n" for n, event in enumerate(events, 1))
    page.route(
        "**/api/jobs/j1/events", lambda route: route.fulfill(body=body, content_type="text/event-stream")
    )
    page.reload()
    board = page.locator(".board")
    expect(board.locator("p.fine")).to_have_text(
        "What is read can be asked now. 2 files are still being read."
    )
    expect(board.locator("h2")).to_have_text("Indexing: 1 of 3")
    for file, state in (
        ("notes.md", "ready to be asked"),
        ("slides.pdf", "can be asked, 48"),
        ("film.mp4", "waiting"),
    ):
        expect(board.locator("li", has_text=file).locator(".state")).to_contain_text(state)


def test_settings_come_from_the_server_count_for_the_next_question_and_stay(window: Any, ask: Any) -> None:
    page = window()
    page.locator(".how").click()
    dialog = page.get_by_role("dialog", name="Settings of a run")
    dialog.get_by_text("All settings").click()
    dialog.get_by_label("Rounds of search").fill("99")
    dialog.get_by_label("Rounds of search").blur()
    expect(dialog.get_by_role("alert").filter(has_text="10")).to_be_visible()
    dialog.get_by_label("Rounds of search").fill("1")
    dialog.get_by_label("Method").select_option("rag_fusion")
    dialog.get_by_label("Passages kept in a round").fill("2")
    dialog.get_by_label("Passages kept in a round").blur()
    page.keyboard.press("Escape")
    page.reload()
    expect(page.get_by_role("button", name="3 changed")).to_be_visible()
    turn = ask(page, "When was the lamp of the lighthouse first lit?")
    turn.locator(".trail summary").click()
    titles = turn.locator(".step .title").all_inner_texts()
    assert "Chose where to look" not in titles
    assert "2 of" in turn.locator(".step", has_text="Joined and ordered").inner_text()
    page.get_by_role("button", name="3 changed").click()
    page.get_by_role("button", name="Set all back").click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Web off · Search with quotes", exact=True)).to_be_visible()


def test_a_text_a_page_and_a_folder_are_added_and_what_cannot_be_fetched_says_why(
    window: Any, ask: Any, tmp_path: Path
) -> None:
    page = window()
    page.get_by_role("button", name="Add", exact=True).click()
    dialog = page.get_by_role("dialog", name="Add to “default”")
    assert findings(page) == []
    dialog.get_by_label("Page of the web").fill("http://127.0.0.1/private")
    dialog.get_by_role("button", name="Fetch").click()
    expect(dialog.get_by_role("alert").first).to_contain_text("this machine or to a private network")
    dialog.get_by_label("Text", exact=True).fill(
        "# The ice house\n\nThe ice house of Ostra was filled in 1688."
    )
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog).to_be_hidden()
    board = page.locator(".board")
    expect(board.locator("li.good")).to_contain_text("The ice house.md", timeout=60_000)
    board.get_by_role("button", name="Close").click()
    assert "1688" in ask(page, "When was the ice house of Ostra filled?").inner_text()

    page.get_by_role("button", name="Add", exact=True).click()
    dialog.get_by_label("Export of chats or notes").select_option("slack")
    with page.expect_file_chooser() as chooser:
        dialog.get_by_role("button", name="Choose").click()
    chooser.value.set_files({"name": "team.zip", "mimeType": "application/zip", "buffer": slack()})
    expect(board.locator("li.good")).to_contain_text("team.slack.zip", timeout=60_000)
    board.get_by_role("button", name="Close").click()

    (tmp_path / "barn" / ".git").mkdir(parents=True)
    (tmp_path / "barn" / ".git" / "config.md").write_text("hidden")
    (tmp_path / "barn" / "barn.md").write_text("# The barn\n\nThe barn of Ostra holds nine carts.\n")
    page.set_input_files("#folder-picker", str(tmp_path / "barn"))
    expect(board.locator("h2")).to_have_text("1 file indexed", timeout=60_000)
    expect(board.locator("li")).to_contain_text("barn.md")


_LEFT = """
async ([over, open, seconds]) => {
  const { secondsLeft } = await import("/static/js/left.js");
  const file = ([name, size, waits]) => ({ name, size, waits });
  return secondsLeft(over.map(file), open.map(file), seconds);
}
"""
_NOTES: list[list[Any]] = [["a.md", 10], ["b.md", 10], ["c.MD", 10]]


@pytest.mark.parametrize(
    ("read", "left", "seconds"),
    [
        (_NOTES, [["d.md", 60]], 6),
        (_NOTES, [["d.md", 60], ["film.mp4", 60]], 0),
        (_NOTES, [["d.md", 60, True]], 0),
        (_NOTES[:2], [["d.md", 60]], 0),
    ],
    ids=["more of the same", "a film is left", "pictures wait", "too few were read"],
)
def test_the_time_that_is_left_is_told_only_if_what_is_left_is_like_what_was_read(
    window: Any, read: list[list[Any]], left: list[list[Any]], seconds: int
) -> None:
    assert window().evaluate(_LEFT, [read, left, 3]) == seconds


def test_the_page_speaks_the_language_of_the_browser_and_another_by_choice(window: Any, ask: Any) -> None:
    page = window(locale="de-AT")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.get_by_role("button", name="Web aus")).to_be_visible()
    expect(page.locator(".documents time").get_by_text("1. Jan. 2024").first).to_be_visible()
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


@pytest.mark.parametrize(
    ("locale", "note"),
    [
        ("de-DE", "Vom Gesendeten nicht benutzt: eine Antwort eines Werkzeugs (2-mal)."),
        ("zh-CN", "发送的内容中没有使用：工具的回复（2 次）。"),
        ("en-GB", "Not used of what was sent: a reply of a tool (2 times)."),
    ],
)
def test_a_note_is_in_the_language_of_the_page(window: Any, site: Any, locale: str, note: str) -> None:
    page = window(locale=locale)
    tool = {"role": "tool", "content": "x"}
    question = {"role": "user", "content": "When was the lamp of the lighthouse first lit?"}
    begun = page.request.post(site.url + "/api/ask", data={"messages": [tool, tool, question]}).json()
    page.request.get(f"{site.url}/api/runs/{begun['run']}/events")
    page.goto(f"{site.url}/#/t/{begun['thread']}")
    expect(page.locator(".notes li")).to_have_text([note])
