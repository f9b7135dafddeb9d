"""`ragweave index`, `sources`, `show` and `library` over real files."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from ragweave.app.commands.index import Watcher, print_report
from ragweave.app.places import short_path
from ragweave.corpora.ingest.events import Event, Report
from ragweave.corpora.store.folders import uploads_of
from ragweave.corpora.store.libraries import Libraries
from ragweave.corpora.store.stores import close_stores, stores
from ragweave.models.errors import StorageError

NOTE = "# Ferry\n\n## Timetable\n\nThe ferry sails at 7:10 in the morning and comes back at noon.\n"


def write_notes(folder: Path) -> None:
    """Write two good files, one that is left out and one that cannot be read."""
    folder.mkdir()
    (folder / "ferry.md").write_text(NOTE, encoding="utf-8")
    (folder / "old.md").write_text("# Old\n\nNobody reads this old note any more.\n", encoding="utf-8")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing else")
    (folder / ".ragweaveignore").write_text("drafts/\n", encoding="utf-8")
    (folder / "drafts").mkdir()
    (folder / "drafts" / "later.md").write_text("# Later\n\nNot yet.\n", encoding="utf-8")


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of notes in the working folder, not indexed yet."""
    write_notes(tmp_path / "notes")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "notes"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `notes` and, in `home`, the library made of them."""
    folder = tmp_path_factory.mktemp("made")
    write_notes(folder / "notes")
    command = [sys.executable, "-m", "ragweave.app.cli", "index", "notes", "--quiet"]
    environment = {**os.environ, "RAGWEAVE_HOME": str(folder / "home")}
    subprocess.run(command, cwd=folder, env=environment, check=True)
    return folder


@pytest.fixture
def indexed(made: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that library as this test's own home."""
    shutil.copytree(made / "home", home)
    monkeypatch.chdir(made)
    return made


def test_a_file_that_was_read_in_part_is_named_with_what_was_not(main: Any, notes: Path) -> None:
    (notes / "boats.jsonl").write_text('{"boat": "Tern"}\n{"boat": \n{"boat": "Marten"}\n', encoding="utf-8")
    out = main("index", "notes")[1]
    partly = out[out.index("Read in part:") : out.index("Left out:")]
    assert partly.count("\n") == 2 and "  notes/boats.jsonl: " in partly and "line 2" in partly
    assert "Read in part:" not in main("index", "notes")[1]


def test_the_second_run_reads_only_what_has_changed(main: Any, notes: Path) -> None:
    code, out, err = main("index", "notes")
    assert code == 0
    assert "Library default: 3 files, 2 read and 1 failed." in out
    assert "drafts" in out[out.index("Left out:") :]
    failed = out[out.index("Failed:") :]
    assert "notes/broken.pdf: " in failed and len(failed.splitlines()) == 2
    assert err == ""

    (notes / "ferry.md").write_text(NOTE.replace("7:10", "8:20"), encoding="utf-8")
    (notes / "old.md").unlink()
    (notes / "broken.pdf").unlink()
    (notes / "new.txt").write_text("A new note about the harbour seals.", encoding="utf-8")
    out = main("index", "notes")[1]
    assert "2 read" in out and "gone and forgotten" in out
    assert "  notes/ferry.md\n  notes/new.txt\n" in out
    assert "Gone and forgotten:\n" in out and "  notes/old.md\n" in out

    out = main("index", "notes")[1]
    assert "Library default: 2 files, 2 unchanged." in out
    assert "Read:" not in out


def test_json_is_the_report_and_nothing_else(main: Any, indexed: Path) -> None:
    code, out, err = main("index", "notes/ferry.md", "notes/old.md", "--json")
    report = json.loads(out)
    assert (code, report["files"], report["unchanged"], report["failed"], err) == (0, 2, 2, [], "")


def test_quiet_is_silent(main: Any, indexed: Path) -> None:
    assert main("index", "notes/ferry.md", "--quiet") == (0, "", "")


def test_where_no_file_could_be_read_the_exit_code_is_2(main: Any, notes: Path) -> None:
    code, out, err = main("index", "notes/broken.pdf", "--quiet")
    assert (code, out) == (2, "")
    assert err.startswith("error: ") and err.count("\n") == 1


def test_the_library_tells_the_doctor_about_its_failures(main: Any, indexed: Path) -> None:
    found = {f["area"]: f for f in json.loads(main("doctor", "--json")[1])}["library default"]
    assert found["state"] == "warn"
    assert "3 sources" in found["what"] and "2 paragraphs" in found["what"] and "1 source failed" in found["what"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permission_is_named(main: Any, notes: Path) -> None:
    notes.chmod(0)
    try:
        code, out, err = main("index", "notes")
    finally:
        notes.chmod(0o755)
    assert "notes" in out + err
    assert "Traceback" not in out + err
    assert code in (0, 2)


def test_a_file_name_with_a_newline_and_an_escape_stays_on_its_line(main: Any, notes: Path) -> None:
    (notes / "broken.pdf").unlink()
    (notes / "two\nlines\x1b[31m.md").write_text("# Odd\n\nAn odd name and nothing else.\n", encoding="utf-8")
    out = main("index", "notes", "-l", "odd")[1]
    assert "  notes/two⏎lines[31m.md\n" in out
    assert "\x1b" not in out
    assert "notes/two⏎lines[31m.md" in main("sources", "-l", "odd")[1]


def test_sources_are_listed_shown_and_removed(main: Any, indexed: Path) -> None:
    out = main("sources")[1]
    assert "notes/ferry.md" in out and "notes/broken.pdf" in out and "failed: " in out
    rows = json.loads(main("sources", "list", "--json")[1])
    ferry = next(r for r in rows if r["path"].endswith("ferry.md"))

    shown = main("sources", "show", ferry["id"][:8])[1]
    assert ferry["id"] in shown and "Ferry" in shown and ferry["sha256"] in shown

    code, out, _ = main("sources", "remove", "notes/ferry.md", "--yes")
    assert (code, out) == (0, "Forgot notes/ferry.md; the file is where it was.\n")
    assert (indexed / "notes" / "ferry.md").exists()
    assert "ferry.md" not in main("sources")[1]


def test_show_prints_an_item_with_its_place(main: Any, indexed: Path) -> None:
    found = json.loads(main("search", "ferry timetable", "--json", "--set", "corpora=paragraph")[1])
    code, out, _ = main("show", found[0]["id"])
    assert code == 0
    assert out.startswith("notes/ferry.md, Ferry › Timetable\n")
    assert "The ferry sails at 7:10 in the morning" in out
    assert main("show", found[0]["id"] + "#0-20")[0] == 0, "the id of a strip opens its item"
    assert json.loads(main("show", found[0]["id"], "--json")[1])["title"] == "Ferry"


def test_libraries_are_made_renamed_and_deleted(main: Any) -> None:
    assert main("library")[1].startswith("There is no library yet")
    assert main("library", "create", "garden")[0] == 0
    assert main("library", "rename", "garden", "park")[1] == "Library garden is now called park.\n"
    assert main("library", "list")[1] == "park\n"
    assert json.loads(main("library", "--json")[1]) == ["park"]
    assert main("library", "set", "park", "--recency", "on", "--half-life", "30")[0] == 0
    told = "Library park: newer documents are preferred always; half-life 30 days.\n"
    assert main("library", "set", "park")[1] == told
    told = "Deleted library park; the files it was made from are where they were.\n"
    assert main("library", "delete", "park", "--yes")[1] == told
    assert main("library")[1].startswith("There is no library yet")


def test_files_are_told_by_name_whichever_was_read_first() -> None:
    out = Console(file=io.StringIO(), width=100)
    report = Report("default", files=4, indexed=2, removed=2, failed=[("/n/f.pdf", "broken"), ("/n/e.pdf", "broken")])
    print_report(out, report, ["/n/b.md", "/n/a.md"], ["/n/d.md", "/n/c.md"])
    assert isinstance(out.file, io.StringIO)
    told = [line.strip() for line in out.file.getvalue().splitlines() if line.startswith("  ")]
    assert told == ["/n/a.md", "/n/b.md", "/n/c.md", "/n/d.md", "/n/e.pdf: broken", "/n/f.pdf: broken"]


def test_a_library_that_cannot_be_opened_is_told_beside_those_that_can(main: Any, home: Path) -> None:
    for name in ("garden", "park"):
        assert main("library", "create", name)[0] == 0
    for left, names in (("park", ["park"]), ("", [])):
        broken = next(row.id for row in stores().catalog.libraries() if row.name != left)
        close_stores()
        (home / "libraries" / broken / "catalog.sqlite").write_bytes(b"garbage" * 2_000)
        code, out, err = main("library")
        assert (code, out.split()) == (2, names) and f"{broken}; put a copy of it back" in err
        code, out, err = main("library", "--json")
        assert (code, json.loads(out)) == (2, names) and broken in err


def test_what_a_disk_says_of_every_library_is_told_once(main: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = StorageError("The catalog cannot be used (attempt to write a readonly database)", "check its permissions")
    monkeypatch.setattr(Libraries, "scan", lambda self: ([], [refused, refused]))
    code, out, err = main("library")
    assert (code, out, err.count("\n")) == (2, "", 1) and "readonly" in err


def _uploaded(home: Path, folder: Path) -> Path:
    """Return a copy of the note as an upload of the default library."""
    kept = uploads_of(home, stores().catalog.library("default").id) / "ferry.md"
    kept.parent.mkdir(parents=True)
    shutil.copy(folder / "notes" / "ferry.md", kept)
    return kept


@pytest.mark.parametrize("own", [False, True])
def test_what_was_uploaded_is_named_before_it_is_deleted_with_its_source(
    main: Any, indexed: Path, home: Path, monkeypatch: pytest.MonkeyPatch, own: bool
) -> None:
    kept = _uploaded(home, indexed)
    if not own:
        assert main("sources", "remove", "notes/ferry.md", "--yes")[0] == 0
    assert main("index", str(kept), "--quiet")[0] == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    asked = main("sources", "remove", str(kept))[1]
    assert f"delete what was uploaded: {short_path(str(kept))}?" in asked and kept.exists()
    out = main("sources", "remove", str(kept), "--yes")[1]
    assert f"; deleted what was uploaded: {short_path(str(kept))}.\n" in out and "where it was" not in out
    assert not kept.exists() and (indexed / "notes" / "ferry.md").exists()


def test_uploaded_files_are_counted_before_they_are_deleted_with_their_library(
    main: Any, indexed: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = _uploaded(home, indexed)
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    asked = main("library", "delete", "default")[1]
    assert "with everything in it, 1 uploaded file, its conversations in the page and its notes (" in asked
    assert "conversations of `ragweave chat` stay" in asked
    assert kept.exists()
    told = "Deleted library default with 1 uploaded file; other files are where they were.\n"
    assert main("library", "delete", "default", "--yes")[1] == told
    assert not kept.exists()


def test_what_could_not_be_done_beside_the_files_is_said() -> None:
    out = Console(file=io.StringIO(), width=100)
    print_report(
        out, Report(library="default", files=1, indexed=1, notes=["Pictures were not seen: no encoder"]), (), ()
    )
    assert "Not done:\n  Pictures were not seen: no encoder\n" in out.file.getvalue()


def test_the_report_says_how_well_each_recording_was_understood() -> None:
    out = io.StringIO()
    report = Report("default", files=1, indexed=1, understood=[("/films/talk.mp4", "heard by pocketsphinx")])
    print_report(Console(file=out, width=100), report, [], [])
    assert "Understood:" in out.getvalue() and "talk.mp4: heard by pocketsphinx" in out.getvalue()


def test_an_estimate_of_nothing_is_refused_as_a_run_is(main: Any, tmp_path: Path) -> None:
    code, _, err = main("index", str(tmp_path / "nowhere"), "--estimate")
    assert code == 2 and "There is no file or folder at" in err


def test_one_bar_tells_the_time_left_and_a_line_for_each_recording_its_state() -> None:
    watcher = Watcher(Console(file=io.StringIO()), shown=True)
    now = [Event("started", total=30)]
    now += [Event("perceived", f"/l/{n:02}.mp4", "look", total=100) for n in range(15)]
    now += [Event("perceived", f"/l/{n:02}.mp4", "asr", total=100) for n in range(15)]
    now += [Event("perceived", "/l/03.mp4", "look", done=100, total=100)]
    now += [Event("perceived", "/l/03.mp4", "asr", done=40, total=100), Event("done", "/l/05.mp4")]
    now += [Event("perceived", "/l/04.mp4", "look", done=25, total=100, left=720)]
    for event in now:
        watcher.event(event)
    out = Console(file=io.StringIO(), width=120)
    out.print(watcher.shown())
    assert isinstance(out.file, io.StringIO)
    first, *lines = out.file.getvalue().splitlines()
    assert "1/30, about 12 min left" in first
    states = {line.split()[0]: line for line in lines}
    assert states["/l/05.mp4"].rstrip().endswith("done")
    assert states["/l/03.mp4"].rstrip().endswith("hearing 40 %")
    assert states["/l/04.mp4"].rstrip().endswith("looking 25 %, waiting to be heard")
    assert states["/l/00.mp4"].rstrip().endswith("waiting to be looked at and heard")
    assert len(lines) == 13 and "and 3 recordings more" in lines[-1]


def test_a_path_that_is_empty_is_not_taken_for_the_folder_here(main: Any, notes: Path) -> None:
    code, _, err = main("index", "")
    assert code == 2 and err.startswith("error: a path is empty")
