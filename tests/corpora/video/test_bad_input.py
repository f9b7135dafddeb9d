"""Files that are damaged, odd or hostile: each gets its sentence or its clips, and the rest goes on."""

from __future__ import annotations

import errno
import os
import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ragweave.corpora.ingest.events import Report
from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.media import Media
from ragweave.corpora.types import Item
from ragweave.models.vad import stretches
from tests.corpora.video.conftest import Film, ScriptedAsr
from tests.corpora.video.test_intake import items

Ffmpeg = Callable[..., None]


async def warnings() -> list[str]:
    return [w for s in await (await open_library()).sources() for w in s.warnings]


async def picture(item: Item) -> Image.Image:
    return Image.open(Media.of((await open_library()).id).path(item.locator["image"]))


def reason(report: Report) -> str:
    [(_, why)] = report.failed
    return why


async def test_a_film_cut_off_before_its_index_is_told(film: Film) -> None:
    path = film(seconds=8)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    path.with_name("note.txt").write_text("The rest goes on.")
    report = await index([path.parent])
    assert "its index is missing" in reason(report)
    assert report.indexed == 1


async def test_of_a_film_cut_off_in_the_middle_the_beginning_is_taken_in(film: Film) -> None:
    path = film("cut.mkv", 60)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    report = await index([path.parent])
    assert (report.indexed, report.failed) == (1, [])
    video = (await items())[-1]
    assert 20 < video.locator["end"] < 40
    [broken] = [w for w in await warnings() if "broken off" in w]
    assert "it states a length of 1:00, and 0:" in broken


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is empty"),
        (bytes(9000), "is empty but for zeros, as after a copy that was interrupted. Copy it anew."),
        (bytes(90_000), "holds only zeros"),
        (b"\0\0\0\x18ftypmp42" + b"\0" * 12, "cannot be decoded"),
        (b"\x1aE\xdf\xa3" + os.urandom(4000), "cannot be decoded"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "cannot be decoded"),
    ],
)
async def test_what_only_begins_like_a_film_is_told(data: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / "film.mp4").write_bytes(data)
    assert why in reason(await index([tmp_path / "film.mp4"]))


async def test_noise_in_the_middle_costs_nothing_but_itself(film: Film) -> None:
    path = film("noise.ts", 40)
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 4000] = os.urandom(4000)
    path.write_bytes(data)
    report = await index([path.parent])
    assert (report.indexed, report.failed) == (1, [])
    assert (await items())[-1].locator["end"] > 35


async def test_a_playlist_dressed_as_a_film_opens_nothing(tmp_path: Path) -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    asked: list[object] = []

    def serve() -> None:
        while True:
            try:
                connection, address = listening.accept()
            except OSError:
                return
            asked.append(address)
            connection.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/segment.ts"
    secret = tmp_path / "secret.ts"
    secret.write_bytes(b"\x47" * 188 * 20)
    playlist = f"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n{url}\n#EXTINF:10,\nfile://{secret}\n#EXT-X-ENDLIST\n"
    folder = tmp_path / "films"
    folder.mkdir()
    (folder / "plain.mp4").write_text(playlist)
    (folder / "boxed.mp4").write_bytes(b"\0\0\0\x18ftypmp42" + b"\0" * 12 + playlist.encode())
    (folder / "stream.ts").write_bytes(b"\x47" + b"\0" * 187 + (b"\x47" + b"\xff" * 187) * 8 + playlist.encode())
    (folder / "sheet.mp4").write_text(f"ffconcat version 1.0\nfile '{url}'\nfile '{secret}'\n")
    report = await index([folder])
    listening.close()
    thread.join(5)
    assert asked == []
    assert {Path(p).name for p, _ in report.failed} >= {"plain.mp4", "boxed.mp4", "stream.ts"}
    assert "playlist" in next(why for p, why in report.failed if p.endswith("plain.mp4"))


async def test_a_header_that_claims_ten_hours_is_not_believed(film: Film) -> None:
    path = film(seconds=12)
    data = bytearray(path.read_bytes())
    for box, at in ((b"mvhd", 16), (b"mdhd", 16), (b"tkhd", 24)):
        place = data.find(box)
        while place >= 0:
            struct.pack_into(">I", data, place + at + 4, 36_000_000)
            place = data.find(box, place + 4)
    path.write_bytes(data)
    report = await index([path.parent])
    assert (report.indexed, report.failed) == (1, [])
    video = (await items())[-1]
    assert video.locator["end"] < 16


async def test_a_film_of_no_frame_rate_and_one_of_a_changing_one_are_looked_at(film: Film, ffmpeg: Ffmpeg) -> None:
    path = film("none.avi", 6)
    data = bytearray(path.read_bytes())
    header = data.index(b"vids")
    struct.pack_into("<I", data, header + 24, 0)
    struct.pack_into("<I", data, data.index(b"avih") + 8, 0)
    path.write_bytes(data)
    changing = ["-vf", "select='lt(n,20)+not(mod(n,9))'", "-fps_mode", "vfr"]
    film("changing.mp4", 20, *changing)
    report = await index([path.parent])
    assert (report.indexed, report.failed) == (2, [])
    assert sorted(round(i.locator["end"]) for i in await items() if i.corpus == "video")[-1] == 20


async def test_portrait_stays_portrait_and_a_turned_film_is_turned(film: Film, ffmpeg: Ffmpeg) -> None:
    tall = film("tall.mp4", 2, size="90x160")
    wide = film("wide.mp4", 2, size="160x90")
    ffmpeg("-display_rotation", "90", "-i", str(wide), "-c", "copy", str(wide.with_name("turned.mp4")))
    wide.unlink()
    assert (await index([tall.parent])).indexed == 2
    shapes = {i.title: (await picture(i)).size for i in await items() if i.corpus == "clip"}
    assert shapes == {"tall": (90, 160), "turned": (90, 160)}


async def test_cells_that_are_not_square_are_made_square(film: Film) -> None:
    film("wide.mp4", 2, "-vf", "setsar=2", size="80x80")
    await index([(film("other.mp4", 2)).parent])
    [clip] = [i for i in await items() if i.corpus == "clip" and i.title == "wide"]
    assert (await picture(clip)).size == (160, 80)


async def test_a_picture_of_eight_thousand_columns_is_taken_in_small(film: Film) -> None:
    path = film("huge.mp4", 0.2, "-preset", "ultrafast", size="7680x4320", sound="")
    report = await index([path.parent])
    assert (report.indexed, report.failed) == (1, [])
    assert (await picture((await items())[0])).size == (512, 288)


async def test_of_several_tracks_the_one_to_play_is_taken_and_the_choice_is_told(film: Film, ffmpeg: Ffmpeg) -> None:
    path = film("one.mp4", 4)
    double = path.with_name("double.mkv")
    maps = ["-map", "0:v", "-map", "0:a", "-map", "0:a", "-disposition:a:0", "0", "-disposition:a:1", "default"]
    ffmpeg("-i", str(path), *maps, "-c", "copy", str(double))
    path.unlink()
    assert (await index([double])).indexed == 1
    assert await warnings() == [
        "it has 2 sound tracks; number 2 was heard",
        "nobody listened: RAGWEAVE_ASR is off, or the extra `video` is not installed",
    ]


async def test_of_several_tracks_none_is_named_where_subtitles_say_what_is_said(film: Film, ffmpeg: Ffmpeg) -> None:
    path = film("one.mp4", 4)
    double = path.with_name("double.mkv")
    ffmpeg("-i", str(path), "-map", "0:v", "-map", "0:a", "-map", "0:a", "-c", "copy", str(double))
    path.unlink()
    double.with_suffix(".srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nRead, not heard.\n")
    assert (await index([double])).indexed == 1
    assert await warnings() == []
    assert [s.status for s in await (await open_library()).sources()] == ["ok"]


@pytest.mark.data
async def test_a_film_of_two_pictures_and_subtitles_is_taken_in(data_dir: Path) -> None:
    report = await index([data_dir / "videos" / "nasa_13013.mp4"])
    assert (report.indexed, report.failed) == (1, [])
    clip, _ = await items()
    assert "Webb" in clip.text and clip.meta["speech"] == "subtitles"
    assert "it has 2 pictures; number 3 was looked at" in await warnings()


async def test_silence_and_music_are_no_speech_and_no_fault(film: Film, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = ScriptedAsr("false words")
    monkeypatch.setattr("ragweave.models.asr.asr", lambda name=None: engine)
    monkeypatch.setattr("ragweave.corpora.video.intake.asr", lambda name=None: engine)
    film("silence.mp4", 6, sound="anullsrc=sample_rate=16000")
    chord = "aevalsrc='0.2*sin(2*PI*262*t)+0.2*sin(2*PI*330*t)+0.2*sin(2*PI*392*t*(1+0.01*sin(9*t)))':sample_rate=16000"
    path = film("music.wav", 6, picture=False, sound=chord)
    report = await index([path.parent])
    assert (report.indexed, report.failed, engine.heard) == (2, [], [])
    assert all(i.text == "" for i in await items() if i.corpus == "clip")
    assert await warnings() == []


async def test_a_film_without_sound_and_one_whose_sound_is_broken_are_looked_at(
    film: Film, hears: Callable[[ScriptedAsr | None], None]
) -> None:
    hears(ScriptedAsr("words"))
    path = film("mute.mp4", 4, sound="")
    assert (await index([path.parent])).indexed == 1
    assert (await items())[0].text == ""


async def test_a_full_disk_is_told_and_the_next_run_goes_on(film: Film, monkeypatch: pytest.MonkeyPatch) -> None:
    path = film(seconds=8)

    def full(self: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        why = reason(await index([path.parent]))
    assert "No space left" in why and "make room" in why.lower()
    assert (await index([path.parent])).indexed == 1


async def test_subtitles_stand_in_for_a_film_that_cannot_be_decoded(film: Film) -> None:
    path = film(seconds=8)
    path.write_bytes(path.read_bytes()[:300])
    path.with_suffix(".srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nStill here.\n")
    assert (await index([path.parent])).indexed == 1
    assert (await items())[0].text == "Still here."
    assert any("only its subtitles were read" in w for w in await warnings())


async def test_broken_subtitles_are_told_and_not_used(film: Film) -> None:
    path = film(seconds=4)
    path.with_suffix(".vtt").write_text("WEBVTT\n\nnothing here\n")
    assert (await index([path.parent])).indexed == 1
    assert any("the subtitles beside it were not used" in w for w in await warnings())


async def test_an_engine_that_is_down_costs_the_film_its_turn_and_no_other(
    film: Film, hears: Callable[[ScriptedAsr | None], None]
) -> None:
    from ragweave.models.asr_api import TranscriptionServer

    hears(TranscriptionServer("m", "http://127.0.0.1:1/v1"))  # type: ignore[arg-type]
    path = film(seconds=4)
    path.with_name("note.txt").write_text("The rest goes on.")
    report = await index([path.parent])
    assert "RAGWEAVE_ASR_URL" in reason(report)
    assert report.indexed == 1


def test_no_speech_is_found_in_random_bytes() -> None:
    noise = np.random.default_rng(1).integers(-2000, 2000, 16_000 * 3).astype(np.int16)
    assert list(stretches([noise], 10)) == []


async def test_a_film_that_cannot_be_taken_in_for_now_stays_as_it_was(
    film: Film, hears: Callable[[ScriptedAsr | None], None]
) -> None:
    from ragweave.models.asr_api import TranscriptionServer

    hears(ScriptedAsr("words"))
    path = film(seconds=4)
    await index([path.parent])
    hears(TranscriptionServer("m", "http://127.0.0.1:1/v1"))  # type: ignore[arg-type]
    assert len((await index([path.parent])).failed) == 1
    assert (await items())[0].text == "words"


async def test_a_film_that_is_broken_now_takes_its_old_clips_with_it(film: Film) -> None:
    path = film(seconds=4)
    await index([path.parent])
    path.write_bytes(path.read_bytes()[:400])
    assert len((await index([path.parent])).failed) == 1
    assert await items() == []
