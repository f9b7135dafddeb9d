"""What was perceived is kept whole, survives damage, and goes when it should."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ragweave.corpora.store.folders import arrived, sweep
from ragweave.corpora.video.perceived import Later, Perceived, folder_of, take_over


def test_outcomes_and_frames_come_back(tmp_path: Path) -> None:
    kept = Perceived(tmp_path / "x")
    kept.put("hear", "a", {"text": "hello"})
    kept.put_frame("f.jpg", b"picture")
    kept.close()
    again = Perceived(tmp_path / "x")
    assert (again.get("hear", "a"), again.get("hear", "b")) == ({"text": "hello"}, None)
    found = again.frame("f.jpg")
    assert found is not None and found.read_bytes() == b"picture"
    again.put("hear", "a", {"text": "other"})
    assert again.get("hear", "a") == {"text": "other"}
    again.close()


def test_a_damaged_database_is_begun_anew(tmp_path: Path) -> None:
    kept = Perceived(tmp_path / "x")
    kept.put("look", "1", [1])
    kept.close()
    (tmp_path / "x" / "stages.sqlite").write_bytes(b"SQLite format 3\0" + os.urandom(5000))
    again = Perceived(tmp_path / "x")
    assert again.get("look", "1") is None
    again.put("look", "1", [2])
    assert again.get("look", "1") == [2]
    again.close()


def test_frames_are_given_to_another_folder(tmp_path: Path) -> None:
    kept = Perceived(tmp_path / "x")
    kept.put_frame("a.jpg", b"a")
    (tmp_path / "media").mkdir()
    kept.give_frames(["a.jpg", "a.jpg", "missing.jpg"], tmp_path / "media")
    assert [p.name for p in (tmp_path / "media").iterdir()] == ["a.jpg"]
    kept.close()


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Later, match="RAGWEAVE_HOME"):
        Perceived(tmp_path / "file" / "below")


def test_what_no_source_needs_is_swept_but_not_what_was_just_written(tmp_path: Path) -> None:
    for sha in ("a" * 64, "b" * 64):
        Perceived(folder_of(tmp_path, "lib", sha)).close()
    assert sweep(tmp_path, "lib", ["a" * 64], since=time.time() - 60) == 0
    assert sweep(tmp_path, "lib", ["a" * 64]) == 1
    assert [p.name for p in (tmp_path / "libraries" / "lib" / "perceived").iterdir()] == ["a" * 32]
    assert sweep(tmp_path, "none", []) == 0


def test_what_was_begun_of_a_file_is_kept_while_that_lies_there_as_it_did_and_no_longer(tmp_path: Path) -> None:
    film, moved = tmp_path / "film.mp4", tmp_path / "other.mp4"
    film.write_bytes(b"film")

    def begun() -> None:
        kept = Perceived(folder_of(tmp_path, "lib", "a" * 64))
        kept.begin(str(film))
        kept.close()
        assert sweep(tmp_path, "lib", []) == 0

    begun()
    film.rename(moved)
    assert sweep(tmp_path, "lib", []) == 1
    moved.rename(film)
    begun()
    film.write_bytes(b"another film")
    assert sweep(tmp_path, "lib", []) == 1
    begun()
    (folder_of(tmp_path, "lib", "a" * 64) / "begun").write_text("{}")
    assert sweep(tmp_path, "lib", []) == 1
    begun()
    arrived(tmp_path, "lib", ["b" * 64])
    assert sweep(tmp_path, "lib", []) == 0
    arrived(tmp_path, "lib", ["a" * 64])
    assert sweep(tmp_path, "lib", []) == 1, "what the library has held goes with it"


def test_what_another_library_has_perceived_of_the_same_bytes_is_taken_over_and_outlives_it(tmp_path: Path) -> None:
    kept = Perceived(folder_of(tmp_path, "theirs", "a" * 64))
    kept.put("hear", "x", {"text": "hello"})
    kept.put_frame("f.jpg", b"picture")
    assert not take_over(tmp_path, "mine", "b" * 64)
    assert take_over(tmp_path, "mine", "a" * 64) and not take_over(tmp_path, "mine", "a" * 64)
    kept.put("hear", "x", {"text": "changed"})
    kept.close()
    assert sweep(tmp_path, "theirs", []) == 1
    mine = Perceived(folder_of(tmp_path, "mine", "a" * 64))
    found = mine.frame("f.jpg")
    assert mine.get("hear", "x") == {"text": "hello"} and found is not None and found.read_bytes() == b"picture"
    mine.close()


def test_what_is_damaged_or_was_taken_over_in_part_is_no_hindrance(tmp_path: Path) -> None:
    Perceived(folder_of(tmp_path, "broken", "a" * 64)).close()
    (folder_of(tmp_path, "broken", "a" * 64) / "stages.sqlite").write_bytes(b"no database at all" * 100)
    assert not take_over(tmp_path, "mine", "a" * 64)
    assert not list(folder_of(tmp_path, "mine", "a" * 64).glob("stages*"))
    Perceived(folder_of(tmp_path, "mine", "b" * 64)).close()
    assert sweep(tmp_path, "mine", []) == 2  # one of them was begun by a run that was killed
    kept = Perceived(folder_of(tmp_path, "whole", "a" * 64))
    kept.put("hear", "x", 1)
    kept.close()
    assert take_over(tmp_path, "mine", "a" * 64)
