"""What was perceived is kept whole, survives damage, and goes when it should."""

from __future__ import annotations

import os
import time
from pathlib import Path

from ragweave.corpora.store.folders import arrived, sweep
from ragweave.corpora.video.perceived import Perceived, folder_of

A, B = "a" * 64, "b" * 64


def kept(home: Path, library: str, sha: str, **outcomes: object) -> Path:
    """Keep outcomes of hearing, and one frame."""
    perceived = Perceived(folder_of(home, library, sha))
    for key, value in outcomes.items():
        perceived.put("hear", key, value)
    perceived.put_frame("f.jpg", b"picture")
    perceived.close()
    return perceived.folder


def heard(folder: Path, key: str) -> object:
    """Return a kept outcome, where the frame is there as well."""
    perceived = Perceived(folder)
    frame = perceived.frame("f.jpg")
    found = perceived.get("hear", key)
    perceived.close()
    return found if frame is not None and frame.read_bytes() == b"picture" else None


def test_outcomes_and_frames_come_back_and_a_damaged_database_is_begun_anew(tmp_path: Path) -> None:
    folder = kept(tmp_path, "lib", A, x={"text": "hello"})
    assert (heard(folder, "x"), heard(folder, "y")) == ({"text": "hello"}, None)
    kept(tmp_path, "lib", A, x={"text": "other"})
    assert heard(folder, "x") == {"text": "other"}
    (folder / "stages.sqlite").write_bytes(b"SQLite format 3\0" + os.urandom(5000))
    assert heard(folder, "x") is None
    kept(tmp_path, "lib", A, x=2)
    assert heard(folder, "x") == 2


def test_what_no_source_needs_is_swept_but_not_what_was_just_written(tmp_path: Path) -> None:
    kept(tmp_path, "lib", A)
    kept(tmp_path, "lib", B)
    assert sweep(tmp_path, "lib", [A], since=time.time() - 60) == 0
    assert sweep(tmp_path, "lib", [A]) == 1 and sweep(tmp_path, "none", []) == 0
    assert os.listdir(tmp_path / "libraries" / "lib" / "perceived") == [A[:32]]


def test_what_was_begun_of_a_file_is_kept_while_that_lies_there_as_it_did_and_no_longer(
    tmp_path: Path,
) -> None:
    film, moved = tmp_path / "film.mp4", tmp_path / "other.mp4"
    film.write_bytes(b"film")

    def begun() -> None:
        perceived = Perceived(folder_of(tmp_path, "lib", A))
        perceived.begin(str(film))
        perceived.close()
        assert sweep(tmp_path, "lib", []) == 0

    begun()
    film.rename(moved)
    assert sweep(tmp_path, "lib", []) == 1
    moved.rename(film)
    begun()
    film.write_bytes(b"another film")
    assert sweep(tmp_path, "lib", []) == 1
    begun()
    (folder_of(tmp_path, "lib", A) / "begun").write_text("{}")
    assert sweep(tmp_path, "lib", []) == 1
    begun()
    arrived(tmp_path, "lib", [B])
    assert sweep(tmp_path, "lib", []) == 0
    arrived(tmp_path, "lib", [A])
    assert sweep(tmp_path, "lib", []) == 1, "what the library has held goes with it"
