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

from ragweave.app.commands.index_progress import Watcher
from ragweave.app.commands.index_report import print_report
from ragweave.app.places import short_path
from ragweave.corpora.ingest.events import Event, Report
from ragweave.corpora.store.folders import uploads_of
from ragweave.corpora.store.stores import stores

NOTE = "# Ferry\n\n## Timetable\n\nThe ferry sails at 7:10 in the morning and comes back at noon.\n"


def write_notes(folder: Path) -> None:
    """Write two good files, one that is left out and one that cannot be read."""
    folder.mkdir()
    (folder / "ferry.md").write_text(NOTE, encoding="utf-8")
    (folder / "old.md").write_text("# Old\n\nThis old note is out of date.\n", encoding="utf-8")
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
    assert "Read: 1 .md and 1 .txt.\n" in out and "ferry.md" not in out

    out = main("index", "notes")[1]
    assert "Library default: 2 files, 2 unchanged." in out
    assert "Read:" not in out


def test_a_file_name_with_a_newline_and_an_escape_stays_on_its_line(main: Any, notes: Path) -> None:
    (notes / "broken.pdf").unlink()
    (notes / "two\nlines\x1b[31m.md").write_text("# Odd\n\nAn odd name and nothing else.\n", encoding="utf-8")
    out = main("index", "notes", "-l", "odd", "--verbose")[1]
    assert "  notes/two⏎lines[31m.md\n" in out
    assert "\x1b" not in out
    assert "notes/two⏎lines[31m.md" in main("sources", "-l", "odd")[1]


def test_sources_are_listed_shown_and_removed(main: Any, indexed: Path) -> None:
    out = main("sources")[1]
    assert "notes/ferry.md" in out and "notes/broken.pdf" in out and "failed: " in out
    rows = json.loads(main("sources", "list", "--json")[1])
    (ferry,) = [row for row in rows if row["path"].endswith("ferry.md")]

    for named in (ferry["id"][:8], "ferry.md"):
        shown = main("sources", "show", named)[1]
        assert ferry["id"] in shown and "Ferry" in shown and ferry["sha256"] in shown

    code, out, _ = main("sources", "remove", "notes/ferry.md", "--yes")
    assert (code, out) == (0, "Forgot notes/ferry.md; the file itself is kept.\n")
    assert (indexed / "notes" / "ferry.md").exists()
    assert "ferry.md" not in main("sources")[1]
    assert "; the files themselves are kept.\n" in main("sources", "remove", "notes", "--yes")[1]
    assert "holds nothing yet" in main("sources")[1] and any((indexed / "notes").iterdir())


def test_libraries_are_made_renamed_and_deleted(main: Any) -> None:
    assert main("library")[1].startswith("There is no library yet")
    assert main("library", "create", "garden")[0] == 0
    assert main("library", "rename", "garden", "park")[1] == "Library garden is now called park.\n"
    assert main("library", "list")[1] == "park\n"
    assert json.loads(main("library", "--json")[1]) == ["park"]
    assert main("library", "set", "park", "--recency", "on", "--half-life", "30")[0] == 0
    message = "Library park: newer documents are preferred always; half-life 30 days.\n"
    assert main("library", "set", "park")[1] == message
    message = "Deleted library park; the files it was made from are kept.\n"
    assert main("library", "delete", "park", "--yes")[1] == message
    assert main("library")[1].startswith("There is no library yet")


def _uploaded(home: Path, folder: Path) -> Path:
    """Return a copy of the note as an upload of the default library."""
    kept = uploads_of(home, stores().catalog.library("default").id) / "ferry.md"
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "notes" / "ferry.md", kept)
    return kept


def test_what_was_uploaded_is_named_before_it_is_deleted_with_its_source_or_its_library(
    main: Any, indexed: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = _uploaded(home, indexed)
    assert main("index", str(kept), "--quiet")[0] == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    asked = main("sources", "remove", str(kept))[1]
    assert f"delete what was uploaded: {short_path(str(kept))}?" in asked and kept.exists()
    out = main("sources", "remove", str(kept), "--yes")[1]
    assert f"; deleted what was uploaded: {short_path(str(kept))}.\n" in out and "is kept" not in out
    assert not kept.exists() and (indexed / "notes" / "ferry.md").exists()
    _uploaded(home, indexed)
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    asked = main("library", "delete", "default")[1]
    assert "with everything in it, 1 uploaded file, and its conversations in the page (" in asked
    assert "conversations of `ragweave chat` stay" in asked and kept.exists()
    message = "Deleted library default with 1 uploaded file; other files are kept.\n"
    assert main("library", "delete", "default", "--yes")[1] == message
    assert not kept.exists()


def test_each_kind_has_its_bar_with_the_time_left_once_it_has_a_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("ragweave.app.commands.index_progress.time.monotonic", lambda: now[0])
    err = Console(file=io.StringIO(), width=120)
    watcher = Watcher(err, shown=True)
    later = [Event("later", "b.md", "picture", total=3, items=2), Event("later", "c.png", "picture", total=1)]
    for event in (Event("started", total=4), Event("done", "a.md"), *later, Event("ready", total=2)):
        watcher.event(event)
    now[0] = 600.0
    watcher.event(Event("perceived", "b.md", "picture", done=1))
    watcher.event(Event("done", "c.png"))
    lines = [
        line.split() for line in "texts 2/3, about 5 min left;pictures 2/4, about 10 min left".split(";")
    ]
    out = Console(file=io.StringIO(), width=120)
    out.print(watcher.shown())
    assert isinstance(out.file, io.StringIO) and isinstance(err.file, io.StringIO)
    shown = [
        line.lower().replace("━", "").replace("╸", "").replace("╺", "").split()
        for line in out.file.getvalue().splitlines()
    ]
    assert shown[1:] == lines
    assert err.file.getvalue().splitlines() == [
        "Ready to ask; 4 pictures are still being read.",
        "texts 2/3, about 5 min left; pictures 1/4, about 30 min left",
    ]


def test_the_summary_counts_reasons_and_names_all_files_only_if_verbose() -> None:
    report = Report("default", 40, indexed=2, failed=[("/x/a.pdf", "damaged"), ("/x/b.pdf", "damaged")])
    report.skipped = [(f"/x/{n}.log", "it is hidden") for n in range(30)] + [("/x/key", "it is a secret")]
    for full, expected in (
        (False, ["  30 files: it is hidden", "  /x/key: it is a secret", "  2 files: damaged"]),
        (True, 33),
    ):
        out = Console(file=io.StringIO(), width=120)
        print_report(out, report, ["/x/c.md"], [], full=full)
        assert isinstance(out.file, io.StringIO)
        lines = [line for line in out.file.getvalue().splitlines() if line.startswith("  ")]
        assert lines == expected if isinstance(expected, list) else len(lines) == expected + 1


def test_a_folder_without_a_file_to_read_ends_with_a_sentence(
    main: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    code, _, error = main("index", str(empty))
    assert code == 2 and "there is no file to read in" in error and str(empty) in error
    (empty / ".hidden.md").write_text("# Hidden\n")
    code, out, error = main("index", str(empty))
    assert code == 2 and "hidden" in out and "named above" in error
    scandir = os.scandir

    def closed(path: Any) -> Any:
        if Path(path) == empty:
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr("ragweave.corpora.ingest.walk.os.scandir", closed)
    code, _, error = main("index", str(empty))
    assert (
        code == 2
        and "could not be read" in error
        and "Permission denied" in error
        and "right to read it" in error
    )


def test_a_run_after_which_all_files_are_gone_is_no_mistake(main: Any, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nA note.\n")
    assert main("index", str(folder))[0] == 0
    (folder / "a.md").unlink()
    assert main("index", str(folder))[0] == 0


def test_an_empty_library_names_the_next_command(main: Any) -> None:
    assert main("library", "create", "my notes")[0] == 0
    next_one = "ragweave index FOLDER --library 'my notes'"
    assert next_one in main("search", "harbour", "--library", "my notes")[1]
    assert next_one in main("sources", "--library", "my notes")[1]
    code, out, error = main("ask", "Where is the harbour?", "--library", "my notes")
    assert code == 3 and "ragweave index FOLDER" in out + error
