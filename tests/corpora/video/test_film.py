"""Clips, films and contact sheets that a person takes along, and what they are never made of."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ragweave.app.cli import app
from ragweave.app.commands.picture import write_contact_sheet, write_media
from ragweave.corpora.types import Item, Locator
from ragweave.corpora.video import film as module
from ragweave.corpora.video import guard
from ragweave.corpora.video.ffmpeg import binary
from ragweave.corpora.video.film import CitedMoment, cut_clip, make_film, moments_of, ready
from ragweave.corpora.video.frames import frames
from ragweave.corpora.video.streams import examine
from ragweave.models.errors import InputError, MissingExtra, SourceError
from tests.corpora.video.conftest import Film, index_one

RED_THEN_BLUE = (
    *("-f", "lavfi", "-i", "color=red:size=64x64:rate=10:duration=20"),
    *("-f", "lavfi", "-i", "color=blue:size=64x64:rate=10:duration=20"),
    *("-filter_complex", "[0][1]concat{}", "-g", "1000", "-sc_threshold", "0", "-pix_fmt", "yuv420p"),
)


def place(path: Path, start: float, end: float) -> Locator:
    return {"kind": "time", "file": str(path), "start": start, "end": end}


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("seldom.ts", ""),  # one frame that can be entered at, and no index
        ("slides.mkv", ",select=eq(n\\,0)+eq(n\\,200)+eq(n\\,399)"),  # each slide is one frame that stands
    ],
)
def test_a_clip_shows_what_stood_on_the_screen_in_all_of_its_seconds(
    name: str, rate: str, ffmpeg: Callable[..., None], tmp_path: Path
) -> None:
    path = tmp_path / name
    ffmpeg(*(a.format(rate) for a in RED_THEN_BLUE), "-fps_mode", "vfr", str(path))
    written, seconds = cut_clip(path, 12.0, 30.0, tmp_path / "piece")
    assert written.name == "piece.mp4" and seconds == pytest.approx(18.0, abs=0.3)
    shown = [pixels[0, 0] for _, pixels in frames(str(written), "mov", 0, 1.0)]
    assert ["red" if r > b else "blue" for r, _, b in shown] == ["red"] * 8 + ["blue"] * 10


def test_a_clip_is_upright_has_its_sound_and_ends_with_the_recording(
    film: Film, ffmpeg: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wide = film("wide.mp4", 6, size="160x90")
    turned = wide.with_name("turned.mp4")
    ffmpeg("-display_rotation", "90", "-i", str(wide), "-c", "copy", str(turned))
    where = place(turned, 4.0, 30.0)
    write_media(Item("i", "clip", "s", "film", "", where), where, "l", tmp_path / "short.mp4", launch=False)
    told, container = capsys.readouterr(), examine(str(tmp_path / "short.mp4"), "mov")
    assert "Wrote" in told.out and "It has 2.0 of 26.0 seconds" in told.err
    picture = container.picture()
    assert picture and (picture.width, picture.height, picture.rate) == (90, 160, 10) and container.sound()
    with pytest.raises(SourceError, match="holds nothing from 0:30 to 0:40"):
        cut_clip(wide, 30.0, 40.0, tmp_path / "empty.mp4")
    assert sorted(os.listdir(tmp_path)) == ["films", "short.mp4"]


def test_of_sound_alone_the_clip_is_sound_and_a_picture_of_it_is_refused(film: Film, tmp_path: Path) -> None:
    path = film("a.mp3", 10, picture=False)
    written, seconds = cut_clip(path, 2.0, 5.0, tmp_path / "piece")
    assert written.name == "piece.m4a" and seconds == pytest.approx(3, abs=0.1)
    container = examine(str(written), "mov")
    assert container.sound() and container.picture() is None
    where = place(path, 2.0, 5.0)
    with pytest.raises(InputError, match=r"no picture of it.*--to x\.m4a"):
        write_media(Item("i", "clip", "s", "a", "", where), where, "l", tmp_path / "x.jpg", launch=False)
    with pytest.raises(SourceError, match="has no picture"):
        write_contact_sheet(where, tmp_path / "sheet.png")


def test_a_film_has_each_moment_under_its_card_and_says_what_it_lacks(film: Film, tmp_path: Path) -> None:
    blue = ("-vf", "drawbox=color=blue:t=fill")
    seen, heard = film("seen.mp4", 4, *blue, sound=""), film("heard.mp3", 9, picture=False)
    gone, to = tmp_path / "gone.mp4", tmp_path / "film.mp4"
    places = [
        place(seen, 1, 2),
        place(gone, 0, 4),
        place(heard, 3, 5),
        place(seen, 1.5, 3),
        {"kind": "page", "page": 3},
    ]
    moments = moments_of(places)  # type: ignore[arg-type]
    assert [(m.path, m.start, m.end) for m in moments] == [(seen, 1, 3), (gone, 0, 4), (heard, 3, 5)]
    assert moments[0].card == ("seen.mp4", "0:01 to 0:03")
    seconds, notes = make_film(moments, to)
    assert seconds == 8.0 and len(notes) == 1 and "gone.mp4 is gone" in notes[0]
    container = examine(str(to), "mov")
    picture = container.picture()
    assert picture and (picture.width, picture.height) == (1280, 720) and container.sound()
    shown = [pixels for _, pixels in frames(str(to), "mov", 0, 1.0)]
    blues = [int(p[360, 640, 2]) > 150 and int(p[360, 640, 0]) < 60 for p in shown]
    assert blues == [False, False, True, True, False, False, False, False]
    assert np.abs(shown[4].astype(int) - shown[7]).mean() < 3, "its card stands while sound plays"


def facts(tmp_path: Path, path: Path, demuxer: str = "mov") -> Path:
    """Write what the guard may do: read one recording, write one file."""
    recording = {"demuxer": demuxer, "duration": 4, "picture": 0, "sound": 1, "size": [64, 48], "rate": 5}
    job = {"ffmpeg": binary(), "recordings": {str(path): recording}, "written": [str(tmp_path / "out.mp4")]}
    (tmp_path / "job.json").write_text(json.dumps(job))
    return tmp_path / "job.json"


def guarded(job: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-I", "-S", guard.__file__, str(job), *arguments]
    return subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=30)


READ = ("-f", "image2pipe", "-vf", "scale=64:48", "-pix_fmt", "rgb24", "-vcodec", "rawvideo", "-")


def test_the_guard_reads_a_probed_film_and_nothing_else(film: Film, tmp_path: Path) -> None:
    path = film(seconds=4)
    job = facts(tmp_path, path)
    assert len(guarded(job, "-i", str(path), *READ).stdout) == 20 * 64 * 48 * 3
    assert b"Duration: 00:00:04.00" in guarded(job, "-i", str(path)).stderr
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/film.mp4"
        (tmp_path / "list.m3u8").write_text(f"#EXTM3U\n#EXTINF:4,\n{address}\n#EXTINF:4,\n{path}\n")
        (tmp_path / "list.txt").write_text(f"ffconcat version 1.0\nfile '{path}'\n")
        for given in (
            ("-i", str(tmp_path / "list.m3u8"), *READ),
            ("-i", address, *READ),
            ("-f", "concat", "-safe", "0", "-i", str(tmp_path / "list.txt"), *READ),
            ("-i", f"concat:{path}", *READ),
            ("-i", str(film("other.mp4", 1)), *READ),
            ("-i", str(path), "-i", address, *READ),
            ("-f", "rawvideo", "-i", "-", "-f", "mp4", str(tmp_path / "elsewhere.mp4")),
            ("-f", "lavfi", "-i", "-", "-f", "mp4", str(tmp_path / "out.mp4")),
        ):
            ended = guarded(job, *given)
            assert (ended.returncode, ended.stdout) == (1, b"") and b"not" in ended.stderr, given
        # A playlist under the name of a film that was probed: its demuxer stays the one that was told.
        path.write_text((tmp_path / "list.m3u8").read_text())
        assert guarded(job, "-i", str(path), *READ).stdout == b""
        with pytest.raises(BlockingIOError):
            server.accept()


def test_each_bad_input_has_its_sentence(film: Film, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, there = film(seconds=2), tmp_path / "there.mp4"
    there.write_text("mine")
    for to, why in (
        (there, "exists"),
        (tmp_path / "no" / "film.mp4", "There is no folder"),
        (tmp_path / "film.avi", r"ends in \.mp4"),
    ):
        with pytest.raises(InputError, match=why):
            make_film([CitedMoment(path, 0, 1)], to)
    with pytest.raises(InputError, match="No recording is cited"):
        make_film([], tmp_path / "film.mp4")
    with pytest.raises(InputError, match="at most 20:00"):
        cut_clip(path, 0, 9999, tmp_path / "film.mp4")
    with pytest.raises(SourceError, match="is gone"):
        cut_clip(tmp_path / "nowhere.mp4", 0, 2, tmp_path / "new.mp4")
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"ragweave\[video\]"):
        ready(tmp_path / "film.mp4", ".mp4")
    assert there.read_text() == "mine" and sorted(os.listdir(tmp_path)) == ["films", "there.mp4"]


def test_whoever_is_killed_while_writing_leaves_no_half_file(film: Film, tmp_path: Path) -> None:
    path, folder = film(seconds=60, size="640x480"), tmp_path / "out"
    folder.mkdir()
    code = "import sys; from ragweave.corpora.video.film import *; "
    code += "make_film([CitedMoment(Path(sys.argv[1]), 0, 60)], Path('film.mp4'))"
    (scratch := tmp_path / "scratch").mkdir()
    given = {"cwd": folder, "stderr": subprocess.DEVNULL, "env": {**os.environ, "TMPDIR": str(scratch)}}
    child = subprocess.Popen([sys.executable, "-c", code, str(path)], **given)  # type: ignore[call-overload]
    end = time.monotonic() + 60
    while not any(f.stat().st_size for f in folder.iterdir()) and time.monotonic() < end:
        time.sleep(0.05)
    assert [f.name for f in folder.iterdir()] == [f".{child.pid}.film.mp4"]
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    end = time.monotonic() + 60
    while os.listdir(folder) + os.listdir(scratch) and time.monotonic() < end:
        time.sleep(0.1)
    assert os.listdir(folder) == os.listdir(scratch) == []


def test_the_commands_write_clip_sheet_and_film_and_of_a_film_that_is_gone_its_frame(
    film: Film, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = film(seconds=4)
    path.with_suffix(".srt").write_text(
        "1\n00:00:01,000 --> 00:00:03,000\nThe lighthouse was built by Ada.\n"
    )
    id_, run = index_one(path), CliRunner()
    asked = run.invoke(app, ["ask", "Who built the lighthouse?", "--film", str(tmp_path / "film.mp4")])
    assert (
        asked.exit_code == 0
        and "1 moment, 0:04" in asked.output
        and (tmp_path / "film.mp4").stat().st_size > 1000
    )
    for option, name in (("--to", "clip.mp4"), ("--sheet", "sheet.png"), ("--to", "frame.jpg")):
        assert run.invoke(app, ["show", id_, option, str(tmp_path / name)]).exit_code == 0
        assert (tmp_path / name).stat().st_size > 1000
    monkeypatch.setattr("typer.launch", lambda path, wait: 3)
    unopened = run.invoke(app, ["show", id_, "--open"])
    assert isinstance(unopened.exception, InputError) and "pen it yourself" in str(unopened.exception)
    path.unlink()
    shown = run.invoke(app, ["show", id_, "--to", str(tmp_path / "gone.mp4")])
    assert shown.exit_code == 0 and "The clip itself cannot be cut" in shown.output
    assert (tmp_path / "gone.jpg").read_bytes()[:2] == b"\xff\xd8"
