"""`ragweave doctor --repair` and `index --watch` over real files."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragweave.models import embed
from ragweave.models.encoders import normalise


@pytest.fixture
def notes(main: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two notes that was indexed."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "ferry.md").write_text("# Ferry\n\nThe ferry sails at 7:10.\n", encoding="utf-8")
    (folder / "seals.txt").write_text("Seals rest on the breakwater.\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main("index", "notes", "--quiet")[0] == 0
    return folder


def test_index_with_another_encoder_says_what_to_set(
    main: Any, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Other:
        name, dim, max_words = "other:model", 200, 60

        def texts(self, texts: list[str]) -> Any:
            return normalise(embed.encoder("wordllama").texts(texts)[:, : self.dim])

    before = embed.encoder
    monkeypatch.setattr(
        embed, "encoder", lambda name=None: Other() if name == "other:model" else before(name)
    )
    code, out, _ = main("index", "--embed", "other:model")
    assert (
        code == 0
        and "has the encoder other:model now, and 2 vectors" in out
        and "RAGWEAVE_EMBED=other:model" in out
    )
    code, out, err = main("search", "ferry")
    assert code == 2 and "set RAGWEAVE_EMBED=other:model" in err


def test_the_doctor_repairs_every_library_and_says_what_it_made(main: Any, notes: Path) -> None:
    assert main("library", "create", "empty")[0] == 0
    code, out, _ = main("doctor", "--repair")
    assert code == 0
    assert "Library default, in" in out and "Library empty, in" in out and out.count("free disk:") == 2
    found = json.loads(main("doctor", "--repair", "--library", "default", "--json")[1])
    assert [f["library"] for f in found] == ["default"] and found[0]["vectors"] == 0
    assert main("doctor", "--repair", "--library", "nothing")[0] == 2


@pytest.fixture
def watching(notes: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that watches the notes and has read them once."""
    command = [sys.executable, "-m", "ragweave.app.cli", "index", "notes", "--watch", "--json"]
    process = subprocess.Popen(
        command, cwd=notes.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        assert json.loads(process.stdout.readline())["unchanged"] == 2
        yield process
    finally:
        process.kill()
        process.communicate()


def test_watching_indexes_what_changes_and_leaves_politely(
    notes: Path, watching: subprocess.Popen[str]
) -> None:
    (notes / "whales.txt").write_text("Whales pass in May.\n", encoding="utf-8")
    assert watching.stdout is not None and json.loads(watching.stdout.readline())["indexed"] == 1
    watching.send_signal(signal.SIGINT)
    assert watching.communicate(timeout=60) == ("", "Stopped. What was indexed stays.\n")
    assert watching.returncode == 130


def test_watching_names_what_was_read_and_what_is_gone(notes: Path, home: Path) -> None:
    command = [sys.executable, "-m", "ragweave.app.cli", "index", "notes", "--watch"]
    with subprocess.Popen(command, cwd=notes.parent, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert "2 unchanged" in process.stdout.readline() and "Ctrl-C" in process.stdout.readline()
            (notes / "whales.txt").write_text("Whales pass in May.\n", encoding="utf-8")
            assert next(line for line in process.stdout if "notes/" in line) == "Read: notes/whales.txt\n"
            (notes / "whales.txt").unlink()
            assert next(line for line in process.stdout if "notes/" in line) == "Gone: notes/whales.txt\n"
        finally:
            process.kill()


def test_watching_a_library_that_is_deleted_ends_with_a_sentence(
    main: Any, watching: subprocess.Popen[str]
) -> None:
    assert main("library", "delete", "default", "--yes")[0] == 0
    out, err = watching.communicate(timeout=60)
    assert (out, watching.returncode, err.count("\n")) == ("", 2, 1)
    assert "'default', which was watched, was deleted" in err
    assert main("library")[1].startswith("There is no library yet")
