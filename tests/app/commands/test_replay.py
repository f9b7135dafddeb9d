"""A saved run is gone back in, and on from there with other knobs."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

TEXTS = {
    "pump.md": "# Pump\n\nThe pump stands in the cellar. It was built by the Orlow company in 1987.",
    "orlow.md": "# Orlow\n\nThe Orlow company was founded in Tartu by Mart Saar. It makes pumps and valves.",
    "garden.md": "# Garden\n\nThe roses need water twice a week in summer. The hedge is cut in March.",
}
QUESTION = "When was the pump built, and who founded the company that built it?"


@pytest.fixture
def saved(main: Any, stock: Any, tmp_path: Path) -> Path:
    """A run over three files."""
    stock(TEXTS)
    path = tmp_path / "runs" / "one.run"
    assert main("ask", QUESTION, "--mode", "extractive", "--save", str(path))[0] == 0
    return path


def test_a_saved_run_is_its_owners_alone_and_a_replay_leaves_it_as_it_is(main: Any, saved: Path) -> None:
    assert saved.stat().st_mode & 0o777 == 0o600
    before = saved.read_bytes()
    code, out, _ = main("replay", str(saved))
    assert code == 0 and out.endswith("The answer is the saved one.\n")
    assert saved.read_bytes() == before


def test_only_what_follows_the_step_is_done_anew(main: Any, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def closed(*asked: Any) -> Any:
        raise AssertionError("the library was searched")

    monkeypatch.setattr("ragweave.nodes.retrieve.search_within", closed)
    code, out, _ = main("replay", str(saved), "--from", "generate", "--trace", "full")
    assert code == 0 and out.count("Wrote the answer") == 1 and "Searched" not in out
    assert out.endswith("The answer is the saved one.\n")


def bad_file(tmp_path: Path, name: str) -> Path:
    path = tmp_path / name
    if name == "empty.run":
        sqlite3.connect(path).execute("CREATE TABLE t (x)").connection.close()
    elif name == "text.run":
        path.write_text("{}")
    return path


@pytest.mark.parametrize(
    ("name", "words"), [("text.run", "is not a saved run"), ("missing.run", "cannot be read"), ("empty.run", "no run")]
)
def test_a_file_that_is_no_saved_run_is_told_in_a_sentence(main: Any, tmp_path: Path, name: str, words: str) -> None:
    code, _, err = main("replay", str(bad_file(tmp_path, name)))
    assert code == 2 and err.count("\n") == 1 and "ragweave ask --save" in err
    assert words in err or "is not a saved run" in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--from", "nope"], "has no step 'nope'; use one of: condense"),
        (["--set", "sentences=99"], "sentences"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_sentence(main: Any, saved: Path, options: list[str], words: str) -> None:
    code, _, err = main("replay", str(saved), *options)
    assert code == 2 and words in err and err.count("\n") == 1


def test_a_run_that_fails_leaves_no_file_and_one_that_is_there_is_not_written_over(main: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    assert main("ask", "Q?", "-l", "nowhere", "--save", str(path))[0] == 2
    assert not path.exists()
    path.write_text("mine")
    assert "exists" in main("ask", "Q?", "--save", str(path))[2] and path.read_text() == "mine"
