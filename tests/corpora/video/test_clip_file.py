"""The stretch of a recording that a person opens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ragweave.app.cli import app
from ragweave.app.commands.picture import hand_out
from ragweave.corpora.ingest.run import index
from ragweave.corpora.types import Item, Locator
from ragweave.corpora.video.clip_file import cut_clip
from ragweave.corpora.video.frames import frames
from ragweave.corpora.video.streams import examine
from ragweave.models.errors import InputError, SourceError
from tests.corpora.video.conftest import Film
from tests.corpora.video.test_intake import items


def test_a_clip_is_cut_to_its_seconds(film: Film, tmp_path: Path) -> None:
    written, seconds = cut_clip(film(seconds=20), 5.0, 12.0, tmp_path / "piece.mp4")
    container = examine(str(written), "mov")
    assert seconds == container.duration == pytest.approx(7.0, abs=0.3)
    assert container.picture() and container.sound()


RED_THEN_BLUE = (
    *("-f", "lavfi", "-i", "color=red:size=64x64:rate=10:duration=20"),
    *("-f", "lavfi", "-i", "color=blue:size=64x64:rate=10:duration=20"),
    *("-filter_complex", "[0][1]concat{}", "-g", "1000", "-sc_threshold", "0", "-pix_fmt", "yuv420p"),
)


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("seldom.ts", ""),  # one frame that can be entered at, and no index
        ("seldom.mkv", ""),
        ("slides.mkv", ",select=eq(n\\,0)+eq(n\\,200)+eq(n\\,399)"),  # each slide is one frame that stands
    ],
)
def test_a_clip_shows_what_stood_on_the_screen_in_all_of_its_seconds(
    name: str, rate: str, ffmpeg: Callable[..., None], tmp_path: Path
) -> None:
    path = tmp_path / name
    ffmpeg(*(a.format(rate) for a in RED_THEN_BLUE), "-fps_mode", "vfr", str(path))
    written, seconds = cut_clip(path, 12.0, 30.0, tmp_path / "piece.mp4")
    assert seconds == pytest.approx(18.0, abs=0.3)
    shown = [pixels[0, 0] for _, pixels in frames(str(written), "mov", 0, 1.0)]
    assert ["red" if r > b else "blue" for r, _, b in shown] == ["red"] * 8 + ["blue"] * 10


def test_a_clip_from_behind_the_end_is_refused_and_a_shorter_one_says_so(
    film: Film, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, empty = film(seconds=6), tmp_path / "empty.mp4"
    with pytest.raises(SourceError, match="holds nothing from 0:30 to 0:40"):
        cut_clip(path, 30.0, 40.0, empty)
    assert not empty.exists()
    place: Locator = {"kind": "time", "file": str(path), "start": 2.0, "end": 30.0}
    hand_out(Item("i", "clip", "s", "film", "", place), place, "l", tmp_path / "short.mp4", launch=False)
    told = capsys.readouterr()
    assert "Wrote" in told.out and "It has 4.0 of 28.0 seconds" in told.err


def test_of_sound_alone_the_clip_is_sound(film: Film, tmp_path: Path) -> None:
    written, _ = cut_clip(film("a.mp3", 10, picture=False), 2.0, 5.0, tmp_path / "piece")
    assert written.name == "piece.m4a"
    assert examine(str(written), "mov").picture() is None


def test_a_picture_of_sound_alone_is_refused_with_the_name_that_gives_the_sound(film: Film, tmp_path: Path) -> None:
    path = film("a.mp3", 10, picture=False)
    place: Locator = {"kind": "time", "file": str(path), "start": 2.0, "end": 5.0}
    item = Item("i", "clip", "s", "a", "", place)
    with pytest.raises(InputError, match=r"no picture of it.*--to x\.m4a"):
        hand_out(item, place, "l", tmp_path / "x.jpg", launch=False)
    hand_out(item, place, "l", tmp_path / "x.m4a", launch=False)
    assert (tmp_path / "x.m4a").is_file()
    path.unlink()
    with pytest.raises(InputError, match="neither a clip nor a picture"):
        hand_out(item, place, "l", tmp_path / "x.jpg", launch=False)


def test_nothing_is_overwritten_and_what_is_gone_is_told(film: Film, tmp_path: Path) -> None:
    there = tmp_path / "there.mp4"
    there.write_text("mine")
    with pytest.raises(InputError, match="exists"):
        cut_clip(film(seconds=4), 0, 2, there)
    with pytest.raises(SourceError, match="is gone"):
        cut_clip(tmp_path / "nowhere.mp4", 0, 2, tmp_path / "new.mp4")
    assert there.read_text() == "mine"


async def _one(path: Path) -> str:
    await index([path.parent])
    return next(i.id for i in await items() if i.corpus == "clip")


def test_show_writes_the_clip_and_of_a_film_that_is_gone_its_frame(film: Film, tmp_path: Path) -> None:
    import asyncio

    path = film(seconds=4)
    id_ = asyncio.run(_one(path))
    run = CliRunner()
    assert run.invoke(app, ["show", id_, "--to", str(tmp_path / "clip.mp4")]).exit_code == 0
    assert (tmp_path / "clip.mp4").stat().st_size > 1000
    path.unlink()
    shown = run.invoke(app, ["show", id_, "--to", str(tmp_path / "gone.mp4")])
    assert shown.exit_code == 0 and "The clip itself cannot be cut" in shown.output
    assert (tmp_path / "gone.jpg").read_bytes()[:2] == b"\xff\xd8"
    assert "film" in run.invoke(app, ["show", id_]).output


def test_show_writes_the_frame_where_a_picture_is_named_and_tells_what_it_cannot_do(
    film: Film, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncio

    id_ = asyncio.run(_one(film(seconds=4)))
    run = CliRunner()
    assert run.invoke(app, ["show", id_, "--to", str(tmp_path / "frame.jpg")]).exit_code == 0
    assert (tmp_path / "frame.jpg").read_bytes()[:2] == b"\xff\xd8"
    nowhere = run.invoke(app, ["show", id_, "--to", str(tmp_path / "no" / "clip.mp4")])
    assert isinstance(nowhere.exception, InputError) and "There is no folder" in str(nowhere.exception)
    monkeypatch.setattr("typer.launch", lambda path, wait: 3)
    unopened = run.invoke(app, ["show", id_, "--open"])
    assert isinstance(unopened.exception, InputError) and "pen it yourself" in str(unopened.exception)
