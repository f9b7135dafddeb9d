"""Files that are damaged, odd or hostile: each gets its sentence or its clips, and the rest goes on."""

from __future__ import annotations

import os
import socket
import struct
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.media import Media
from ragweave.models.asr_api import TranscriptionServer
from ragweave.models.vad import stretches
from tests.corpora.video.conftest import Ffmpeg, Film, Hears, ScriptedAsr, items, reason, warnings


async def shapes() -> dict[str, tuple[int, int]]:
    """Return the size of the stored picture of each clip, by the title of its recording."""
    media = Media.of((await open_library()).id)
    clips = [i for i in await items() if i.corpus == "clip"]
    return {i.title: Image.open(media.path(i.locator["image"])).size for i in clips}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is empty"),
        (bytes(9000), "is empty but for zeros, as after a copy that was interrupted"),
        (bytes(90_000), "holds only zeros"),
        (b"\0\0\0\x18ftypmp42" + b"\0" * 12, "cannot be decoded"),
        (b"\x1aE\xdf\xa3" + os.urandom(4000), "cannot be decoded"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "cannot be decoded"),
    ],
)
async def test_what_only_begins_like_a_film_is_told_and_the_rest_goes_on(
    data: bytes, why: str, tmp_path: Path
) -> None:
    (tmp_path / "film.mp4").write_bytes(data)
    (tmp_path / "note.txt").write_text("The rest goes on.")
    report = await index([tmp_path])
    assert why in reason(report) and report.indexed == 1


async def test_of_a_film_cut_off_the_beginning_is_taken_in_where_its_index_is_there(film: Film) -> None:
    for path in (film("cut.mkv", 60), film("indexless.mp4", 8)):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    report = await index([path.parent])
    assert report.indexed == 1 and "its index is missing" in reason(report)
    assert 20 < (await items())[-1].locator["end"] < 40
    [broken] = [w for w in await warnings() if "broken off" in w]
    assert "it states a length of 1:00, and 0:" in broken


async def test_a_playlist_dressed_as_a_film_opens_nothing(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/segment.ts"
        secret = tmp_path / "secret.ts"
        secret.write_bytes(b"\x47" * 188 * 20)
        playlist = f"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n{url}\n#EXTINF:10,\nfile://{secret}\n"
        folder = tmp_path / "films"
        folder.mkdir()
        (folder / "plain.mp4").write_text(playlist)
        (folder / "boxed.mp4").write_bytes(b"\0\0\0\x18ftypmp42" + b"\0" * 12 + playlist.encode())
        (folder / "stream.ts").write_bytes(
            b"\x47" + b"\0" * 187 + (b"\x47" + b"\xff" * 187) * 8 + playlist.encode()
        )
        (folder / "sheet.mp4").write_text(f"ffconcat version 1.0\nfile '{url}'\nfile '{secret}'\n")
        report = await index([folder])
        with pytest.raises(BlockingIOError):
            server.accept()
    assert {Path(p).name for p, _ in report.failed} >= {"plain.mp4", "boxed.mp4", "stream.ts"}
    assert "playlist" in next(why for p, why in report.failed if p.endswith("plain.mp4"))


async def test_headers_that_claim_ten_hours_or_no_frame_rate_are_not_believed(film: Film) -> None:
    long, still = film("long.mp4", 12), film("still.avi", 6)
    data = bytearray(long.read_bytes())
    for box, at in ((b"mvhd", 16), (b"mdhd", 16), (b"tkhd", 24)):
        place = data.find(box)
        while place >= 0:
            struct.pack_into(">I", data, place + at + 4, 36_000_000)
            place = data.find(box, place + 4)
    long.write_bytes(data)
    data = bytearray(still.read_bytes())
    struct.pack_into("<I", data, data.index(b"vids") + 24, 0)
    struct.pack_into("<I", data, data.index(b"avih") + 8, 0)
    still.write_bytes(data)
    film("changing.mp4", 20, "-vf", "select='lt(n,20)+not(mod(n,9))'", "-fps_mode", "vfr")
    report = await index([long.parent])
    assert (report.indexed, report.failed) == (3, [])
    ends = {i.title: i.locator["end"] for i in await items() if i.corpus == "video"}
    assert ends["long"] < 16 and round(ends["changing"]) == 20 and "still" in ends


async def test_pictures_are_upright_with_square_cells_and_small(film: Film, ffmpeg: Ffmpeg) -> None:
    film("tall.mp4", 2, size="90x160")
    film("cells.mp4", 2, "-vf", "setsar=2", size="80x80")
    film("huge.mp4", 0.2, "-preset", "ultrafast", size="7680x4320", sound="")
    wide = film("wide.mp4", 2, size="160x90")
    ffmpeg("-display_rotation", "90", "-i", str(wide), "-c", "copy", str(wide.with_name("turned.mp4")))
    wide.unlink()
    assert (await index([wide.parent])).failed == []
    assert await shapes() == {"tall": (90, 160), "turned": (90, 160), "cells": (160, 80), "huge": (512, 288)}


@pytest.mark.data
async def test_a_film_of_two_pictures_and_subtitles_is_taken_in(data_dir: Path) -> None:
    report = await index([data_dir / "videos" / "nasa_13013.mp4"])
    assert (report.indexed, report.failed) == (1, [])
    clip, _ = await items()
    assert "Webb" in clip.text and clip.meta["speech"] == "subtitles"
    assert "it has 2 pictures; number 3 was looked at" in await warnings()


async def test_silence_music_and_noise_are_no_speech_and_no_fault(
    film: Film, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = ScriptedAsr("false words")
    monkeypatch.setattr("ragweave.corpora.video.intake.asr", lambda name=None: engine)
    film("silence.mp4", 6, sound="anullsrc=sample_rate=16000")
    film("mute.mp4", 4, sound="")
    chord = "aevalsrc='0.2*sin(2*PI*262*t)+0.2*sin(2*PI*330*t)+0.2*sin(2*PI*392*t*(1+0.01*sin(9*t)))':sample_rate=16000"
    path = film("music.wav", 6, picture=False, sound=chord)
    report = await index([path.parent])
    assert (report.indexed, report.failed, engine.heard, await warnings()) == (3, [], [], [])
    assert all(i.text == "" for i in await items() if i.corpus == "clip")
    noise = np.random.default_rng(1).integers(-2000, 2000, 16_000 * 3).astype(np.int16)
    assert list(stretches([noise], 10)) == []


async def test_subtitles_stand_in_for_a_film_that_cannot_be_decoded_and_broken_ones_are_not_used(
    film: Film,
) -> None:
    broken, whole = film("broken.mp4", 8), film("whole.mp4", 4)
    broken.write_bytes(broken.read_bytes()[:300])
    broken.with_suffix(".srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nStill here.\n")
    whole.with_suffix(".vtt").write_text("WEBVTT\n\nnothing here\n")
    assert (await index([whole.parent])).indexed == 2
    assert {i.text for i in await items() if i.corpus == "clip"} == {"Still here.", ""}
    for what in ("only its subtitles were read", "its subtitles were not used"):
        assert any(what in w for w in await warnings())


async def test_an_engine_that_is_down_costs_a_film_its_turn_and_leaves_what_is_stored(
    film: Film, hears: Hears
) -> None:
    hears(ScriptedAsr("words"))
    path = film(seconds=4)
    await index([path.parent])
    hears(TranscriptionServer("m", "http://127.0.0.1:1/v1"))  # type: ignore[arg-type]
    path.with_name("note.txt").write_text("The rest goes on.")
    report = await index([path.parent])
    assert "RAGWEAVE_ASR_URL" in reason(report) and report.indexed == 1
    assert (await items())[0].text == "words"
    path.write_bytes(path.read_bytes()[:400])
    assert len((await index([path.parent])).failed) == 1 and await items() == []
