"""Recordings told by their first bytes, ffmpeg's account of what they hold, and how long they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.ingest.run import index
from ragweave.corpora.sniff import HEAD, demuxer
from ragweave.corpora.video.ffmpeg import binary, run
from ragweave.corpora.video.frames import frames
from ragweave.corpora.video.streams import described
from tests.corpora.video.conftest import Ffmpeg, Film, items, warnings


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"\0\0\0\x20ftypisom", "mov"),
        (b"\0\0\0\x08wide\0\0\0\0mdat", "mov"),
        (b"\x1aE\xdf\xa3\x9f", "matroska"),
        (b"RIFF\0\0\0\0AVI LIST", "avi"),
        (b"RIFF\0\0\0\0WAVEfmt ", "wav"),
        ((b"\x47" + b"\0" * 187) * 6, "mpegts"),
        (b"\0\0\0\0" + (b"\x47" + b"\0" * 191) * 6, "mpegts"),
        (b"\xff\xfb\x90\x00" + b"\0" * 413 + b"\xff\xfb\x90\x00", "mp3"),
        (b"\xff\xf1\x50\x80\x02\x1f\xfc" + b"\0" * 9 + b"\xff\xf1\x50\x80", "aac"),
        (b"ID3\x04\0", "mp3"),
        (b"fLaC\0", "flac"),
        (b"OggS\0", "ogg"),
        *((head, "") for head in (b"", b"GGGGGGGGGG", b"#EXTM3U\n#EXTINF:10,\n", b"ffconcat version 1.0\n")),
        *(
            (head, "")
            for head in (b"\xff\xfe\x41\x00\x42\x00\x43\x00", b"\xff\xd8\xff\xe0\0\x10JFIF", b"%PDF-1.7")
        ),
        *((head, "") for head in (b"\0\0\0\x18ftypheic", b"\0\0\0\x18ftypavif", b"RIFF\0\0\0\0WEBPVP8 ")),
        *((text.encode(), "") for text in ("The free trial", "Our wide range", "ID3 tags", "OggS pages")),
    ],
)
def test_a_recording_is_told_by_its_first_bytes(head: bytes, name: str) -> None:
    assert demuxer(head) == name


@given(st.text(min_size=1, max_size=HEAD))
def test_no_text_is_taken_for_a_recording_and_any_account_can_be_read(text: str) -> None:
    described(text)
    signatures = ("FLV\x01", "#!AMR", "RIFF", "RF64", "FORM")
    if "\0" not in text and not text.startswith(signatures):
        assert demuxer(text.encode("utf-8")) in ("", "mpegts" if text[0] == "G" or text[4:5] == "G" else "")


LOG = """Input #0, matroska,webm, from 'file:x':
  Metadata:
    title           : On looms
    ARTIST          : A. Lovelace
    artist_url      : http://nowhere.example
  Duration: 01:02:03.50, start: 0.000000, bitrate: 1 kb/s
  Chapters:
    Chapter #0:0: start 0.000000, end 60.000000
      Metadata:
        title           : Threads
    Chapter #0:1: start 60.000000, end 3723.500000
      Metadata:
        title           : Cards
  Stream #0:0(eng): Video: h264 (High), yuv420p(tv, bt709), 1920x1080 [SAR 1:1 DAR 16:9], 30 fps (default)
  Stream #0:1: Audio: aac (LC), 48000 Hz, stereo, fltp
  Stream #0:2(ger): Audio: aac (LC), 48000 Hz, stereo, fltp (default)
  Stream #0:3(eng): Subtitle: subrip (default)
  Stream #0:4: Subtitle: hdmv_pgs_subtitle
  Stream #0:5: Video: mjpeg, yuvj420p, 600x600, 90k tbr (attached pic)
    Metadata:
      title           : cover
"""


def test_streams_chapters_and_tags_are_read() -> None:
    found = described(LOG)
    assert (found.duration, found.tags) == (3723.5, {"title": "On looms", "artist": "A. Lovelace"})
    assert found.chapters == ((0.0, 60.0, "Threads"), (60.0, 3723.5, "Cards"))
    picture, sound, subtitles = found.picture(), found.sound(), found.subtitles()
    assert picture and (picture.index, picture.width, picture.height, picture.rate) == (0, 1920, 1080, 30)
    assert sound and subtitles and (sound.index, subtitles.index) == (2, 3)
    assert sum(s.kind == "Video" for s in found.streams) == 1


def test_the_process_that_decodes_knows_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_DATABASE_URL", "postgresql+psycopg://u:secret@host/name")
    given: list[dict[str, str]] = []
    binary()  # looked for once a process, by starting it

    def started(command: list[str], env: dict[str, str] | None = None, **more: object) -> None:
        if "-version" in command and env is not None:
            given.append(env)
        raise OSError

    monkeypatch.setattr("subprocess.Popen", started)
    with pytest.raises(OSError):
        run(["-version"])
    assert "secret" not in " ".join(given[0].values())


@pytest.mark.parametrize(("rate", "every"), [("30000/1001", 1.406), ("7", 0.5)])
def test_what_is_shown_from_a_moment_on_is_what_the_whole_shows_there(
    film: Film, rate: str, every: float
) -> None:
    path = str(film("film.mp4", 12, "-r", rate, sound=""))
    whole = list(frames(path, "mov", 0, every))
    for first in (1, len(whole) - 1):
        rest = list(frames(path, "mov", 0, every, first))
        assert [at for at, _ in rest] == [at for at, _ in whole[first:]]
        assert all(np.array_equal(a, b) for (_, a), (_, b) in zip(rest, whole[first:], strict=True))


SUBTITLES = "\n\n".join(
    f"{n}\n00:{at // 60:02}:{at % 60:02},000 --> 00:{(at + 4) // 60:02}:{(at + 4) % 60:02},000\n{text}\n"
    for n, (at, text) in enumerate(
        ((1, "The first words."), (6, "The last words."), (300, "Words of another film."))
    )
)


async def test_subtitles_that_go_on_behind_the_film_are_told_and_nothing_cites_their_seconds(
    film: Film,
) -> None:
    path = film(seconds=8)
    path.with_suffix(".srt").write_text(SUBTITLES)
    path.with_suffix(".de.srt").write_text(SUBTITLES.replace("Words", "Worte"))
    assert (await index([path.parent])).indexed == 1
    clip, whole = await items()
    assert clip.text.startswith("The first words. The last words.") and "another film" not in clip.text
    assert whole.locator["end"] == pytest.approx(8, abs=0.1)
    assert all(s.time is None or s.time[1] <= 8.1 for i in (clip, whole) for s in i.spans)
    assert {w for w in await warnings() if "past the end" in w} == {
        "the subtitles run to 5:04, past the end of the recording at 0:08, and do not fit it: 1 of 3 were"
        " left out"
    }


@pytest.mark.parametrize("subtitles", [True, False])
async def test_a_film_whose_sound_goes_on_behind_its_picture_is_as_long_as_its_sound(
    subtitles: bool, film: Film, ffmpeg: Ffmpeg
) -> None:
    seconds = 310 if subtitles else 30
    sound, short = film("long.m4a", seconds, picture=False), film("short.mp4", 4)
    both = sound.with_name("both.mkv")
    ffmpeg("-i", str(short), "-i", str(sound), "-map", "0:v", "-map", "1:a", str(both))
    if subtitles:
        both.with_suffix(".srt").write_text(SUBTITLES)
    assert (await index([both])).indexed == 1
    found = await items()
    assert any("another film" in i.text for i in found) is subtitles
    assert found[-1].locator["end"] == pytest.approx(seconds, abs=0.5)
    assert not [w for w in await warnings() if "broken off" in w or "past the end" in w]
