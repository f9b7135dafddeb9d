"""Libraries, uploads, sources and settings."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragweave.tests.page.test_axe import findings
from ragweave.tests.support.exports import slack

expect = pytest.importorskip("playwright.sync_api").expect


def _choose(page: Any, name: str) -> None:
    page.locator("button.library").click()
    page.get_by_role("dialog").locator("button.choose", has_text=name).click()
    expect(page.locator("button.library .name")).to_have_text(name)


def test_files_are_dropped_in_and_a_bad_one_says_why_while_the_rest_is_indexed(
    window: Callable[..., Any], ask: Callable[..., Any], tmp_path: Path
) -> None:
    page = window()
    page.locator("button.library").click()
    page.get_by_role("button", name="New library").click()
    page.get_by_label("Name of the library").fill("mills")
    page.get_by_role("button", name="Create").click()
    expect(page.locator("button.library .name")).to_have_text("mills")
    expect(page.get_by_text("Drop files or folders here")).to_be_visible()
    page.keyboard.press("Escape")
    transfer = page.evaluate_handle(
        """() => {
          const data = new DataTransfer();
          data.items.add(new File(["# The watermill\\n\\nThe watermill of Ostra was built in 1702.\\n"], "mill.md"));
          data.items.add(new File(["%PDF-1.7 broken"], "broken.pdf"));
          return data;
        }"""
    )
    page.dispatch_event("body", "dragenter", {"dataTransfer": transfer})
    expect(page.get_by_text("Index into “mills”")).to_be_visible()
    page.dispatch_event("body", "drop", {"dataTransfer": transfer})
    board = page.locator(".board")
    expect(board.locator("h2")).to_have_text("1 file indexed, 1 could not be", timeout=60_000)
    expect(board.locator("li.bad")).to_contain_text("broken.pdf")
    assert len(board.locator("li.bad .state").inner_text()) > 20
    expect(board.locator("li.good")).to_contain_text("mill.md")
    board.get_by_role("button", name="Close").click()
    expect(page.locator(".held")).to_contain_text("passage")
    assert "1702" in ask(page, "When was the watermill of Ostra built?").inner_text()

    sources = page.get_by_role("region", name="Sources").first
    expect(sources.get_by_role("status")).to_have_text("2 sources, 1 could not be read")
    expect(sources.locator("li.failed .wrong")).to_be_visible()
    sources.get_by_role("button", name="Remove broken.pdf").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(sources.get_by_role("status")).to_have_text("1 source")

    page.locator("button.library").click()
    page.get_by_role("button", name="Delete mills").click()
    page.get_by_role("button", name="Delete the library").click()
    expect(page.get_by_role("dialog").locator(".rows li", has_text="mills")).to_have_count(0)


def test_the_library_chosen_in_one_window_leaves_the_other_alone_and_survives_a_reload(
    window: Callable[..., Any],
) -> None:
    one, other = window(), window()
    _choose(one, "media")
    one.reload()
    expect(one.locator("button.library .name")).to_have_text("media")
    expect(other.locator("button.library .name")).to_have_text("default")


def test_settings_come_from_the_server_count_for_the_next_question_and_stay(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
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


def test_an_upload_is_shown_again_after_a_reload(window: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "wharf.md").write_text("# The wharf\n\nThe wharf was built in 1911.\n", encoding="utf-8")
    page = window()
    page.route("**/api/jobs/*/events*", lambda route: None)  # never answered: the page is left before the end
    with page.expect_response("**/api/upload"):
        page.set_input_files("#picker", str(tmp_path / "wharf.md"))
    board = page.locator(".board")
    expect(board.get_by_role("button", name="Cancel")).to_be_visible()
    page.wait_for_function("sessionStorage.getItem('ragweave.jobs')?.includes('wharf.md')")
    page.unroute_all(behavior="ignoreErrors")
    page.reload()
    expect(board.locator("h2")).to_have_text("1 file indexed", timeout=60_000)
    expect(board.locator("li.good")).to_contain_text("wharf.md")
    expect(board.get_by_role("button", name="Cancel")).to_be_hidden()


def test_what_is_being_indexed_is_shown_in_a_second_tab_and_how_long_it_takes_is_told(
    window: Callable[..., Any],
) -> None:
    files = [f"quay-{n}.md" for n in range(80)]
    events = [{"type": "started", "total": 80}, *({"type": "done", "file": name} for name in files[:11])]
    parts = [f"id: {n}\nevent: {e['type']}\ndata: {json.dumps(e)}\n\n" for n, e in enumerate(events)]
    told = iter([parts[:9]])  # the rest comes later
    page = window()
    page.route("**/api/jobs", lambda r: r.fulfill(json={"jobs": [{"job": "j", "library": "default", "files": files}]}))
    page.route(
        "**/api/jobs/j/events*", lambda r: r.fulfill(body="".join(next(told, parts)), content_type="text/event-stream")
    )
    page.reload()
    expect(page.locator(".board h2")).to_have_text("Indexing: 8 of 80")
    expect(page.locator(".board h2")).to_have_text(re.compile(r"Indexing: 11 of 80 · about \d+ s left"))


def test_a_recording_says_that_it_waits_or_how_far_it_is_heard_and_the_time_left_is_told(
    window: Callable[..., Any],
) -> None:
    far = {"type": "perceived", "stage": "asr", "total": 50, "left": 600}
    events = [
        {"type": "started", "total": 2},
        *({**far, "file": name, "done": 0} for name in ("a.mp3", "b.mp3")),
        {**far, "file": "a.mp3", "done": 20},
    ]
    told = "".join(f"id: {n}\nevent: {e['type']}\ndata: {json.dumps(e)}\n\n" for n, e in enumerate(events))
    jobs = {"jobs": [{"job": "j", "library": "default", "files": ["a.mp3", "b.mp3"]}]}
    page = window()
    page.route("**/api/jobs", lambda r: r.fulfill(json=jobs))
    page.route("**/api/jobs/j/events*", lambda r: r.fulfill(body=told, content_type="text/event-stream"))
    page.reload()
    board = page.locator(".board")
    expect(board.locator("li", has_text="a.mp3")).to_contain_text("hearing: 40 %")
    expect(board.locator("li", has_text="b.mp3")).to_contain_text("waiting to be heard")
    expect(board.locator("h2")).to_contain_text("10 min")
    expect(board.locator("progress")).to_have_js_property("value", 0.2)


def test_what_was_not_sent_can_be_sent_again(window: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "mole.md").write_text("# The mole\n\nThe mole of Ostra was built in 1702.\n", encoding="utf-8")
    page = window()
    page.route("**/api/upload", lambda route: route.abort())
    page.set_input_files("#picker", str(tmp_path / "mole.md"))
    board = page.locator(".board")
    expect(board.get_by_role("alert")).to_be_visible()
    page.unroute("**/api/upload")
    board.get_by_role("button", name="Try again").click()
    expect(board.locator("li.good")).to_contain_text("mole.md", timeout=60_000)
    expect(board.locator("h2")).to_have_text("1 file indexed")
    expect(board.get_by_role("button", name="Try again")).to_have_count(0)


def test_a_text_a_page_and_a_folder_are_added_and_what_cannot_be_fetched_says_why(
    window: Callable[..., Any], ask: Callable[..., Any], tmp_path: Path
) -> None:
    page = window()
    page.get_by_role("button", name="Add", exact=True).click()
    dialog = page.get_by_role("dialog", name="Add to “default”")
    assert findings(page) == []
    dialog.get_by_label("Page of the web").fill("http://127.0.0.1/private")
    dialog.get_by_role("button", name="Fetch").click()
    expect(dialog.get_by_role("alert").first).to_contain_text("this machine or to a private network")
    dialog.get_by_label("Text", exact=True).fill("# The ice house\n\nThe ice house of Ostra was filled in 1688.")
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


def test_files_whose_names_are_cleaned_or_numbered_are_counted_once_and_as_indexed(
    window: Callable[..., Any], site: Any, tmp_path: Path
) -> None:
    page = window()
    kept = page.request.post(f"{site.url}/api/libraries", data={"name": "names"}).json()
    try:
        page = window(keep={"library": json.dumps("names")})
        names = ["Mu\u0308ller Protokoll.md", "Q3: plan?.md", " leading.md", "trailing .", ".env"]
        page.set_input_files(
            "#picker",
            files=[
                {"name": name, "mimeType": "text/plain", "buffer": f"# Entry {n}\n\nIt has {n} rows.\n".encode()}
                for n, name in enumerate(names)
            ],
        )
        board = page.locator(".board")
        expect(board.locator("h2")).to_have_text("4 files indexed, 1 could not be", timeout=60_000)
        expect(board.get_by_role("status")).to_have_text("4 files indexed, 1 could not be")
        expect(board.locator("li .name")).to_have_text(
            [".env", "M\u00fcller Protokoll.md", "Q3_ plan_.md", "leading.md", "trailing"]
        )
        expect(board.locator("li.good")).to_have_count(4)
        expect(board.get_by_role("button", name="Try again")).to_have_count(0)
        board.get_by_role("button", name="Close").click()
        for folder in ("one", "two"):
            (tmp_path / "docs" / folder).mkdir(parents=True)
            (tmp_path / "docs" / folder / "README.md").write_text(f"# Part {folder}\n\nThis is part {folder}.\n")
        page.set_input_files("#folder-picker", str(tmp_path / "docs"))
        expect(board.locator("h2")).to_have_text("2 files indexed", timeout=60_000)
        expect(board.locator("li.good .name")).to_have_text(["README.md", "README (2).md"])
    finally:
        page.request.delete(f"{site.url}/api/libraries/{kept['id']}")


def test_files_go_to_the_library_that_is_shown_also_once_it_was_renamed_elsewhere_and_to_no_other_once_it_was_deleted(
    window: Callable[..., Any], site: Any
) -> None:
    page = window()
    kept = page.request.post(f"{site.url}/api/libraries", data={"name": "r1"}).json()
    address = f"{site.url}/api/libraries/{kept['id']}"
    page = window(keep={"library": json.dumps("r1")})
    expect(page.locator("button.library .name")).to_have_text("r1")
    page.request.patch(address, data={"name": "r2"})
    file = {"name": "gate.md", "mimeType": "text/markdown", "buffer": b"# The gate\n\nThe gate is green.\n"}
    page.set_input_files("#picker", files=[file])
    board = page.locator(".board")
    expect(board.locator("h2")).to_have_text("1 file indexed", timeout=60_000)
    expect(page.locator("button.library .name")).to_have_text("r2")
    board.get_by_role("button", name="Close").click()
    page.request.delete(address)
    page.set_input_files("#picker", files=[file])
    expect(board.get_by_role("alert")).to_contain_text("not there any more")
    expect(page.locator("button.library .name")).to_have_text("default")
    board.get_by_role("button", name="Try again").click()
    expect(board.get_by_role("alert")).to_contain_text("not there any more")
    names = [row["name"] for row in page.request.get(f"{site.url}/api/libraries").json()["libraries"]]
    assert not {"r1", "r2"} & set(names)
