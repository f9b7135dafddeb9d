"""Recordings told by their first bytes, and ffmpeg's account of what they hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.sniff import HEAD, demuxer
from ragweave.corpora.video.ffmpeg import run
from ragweave.corpora.video.streams import described, examine
from tests.corpora.video.conftest import Film

MP3 = b"\xff\xfb\x90\x00" + b"\0" * 413 + b"\xff\xfb\x90\x00"
AAC = b"\xff\xf1\x50\x80\x02\x1f\xfc" + b"\0" * 9 + b"\xff\xf1\x50\x80"


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"\0\0\0\x20ftypisom", "mov"),
        (b"\0\0\0\x08wide\0\0\0\0mdat", "mov"),
        (b"\x1aE\xdf\xa3\x9f", "matroska"),
        (b"RIFF\0\0\0\0AVI LIST", "avi"),
        (b"RIFF\0\0\0\0WAVEfmt ", "wav"),
        (b"RIFF\0\0\0\0WEBPVP8 ", ""),
        ((b"\x47" + b"\0" * 187) * 6, "mpegts"),
        (b"\0\0\0\0" + (b"\x47" + b"\0" * 191) * 6, "mpegts"),
        (MP3, "mp3"),
        (AAC, "aac"),
        (b"ID3\x04\0", "mp3"),
        (b"fLaC\0", "flac"),
        (b"OggS\0", "ogg"),
        (b"GGGGGGGGGG", ""),
        (b"#EXTM3U\n#EXTINF:10,\n", ""),
        (b"ffconcat version 1.0\n", ""),
        (b"\xff\xfe\x41\x00\x42\x00\x43\x00", ""),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", ""),
        (b"%PDF-1.7", ""),
        (b"\0\0\0\x18ftypheic", ""),
        (b"\0\0\0\x18ftypavif", ""),
        (b"", ""),
    ],
)
def test_a_recording_is_told_by_its_first_bytes(head: bytes, name: str) -> None:
    assert demuxer(head) == name


@given(st.text(min_size=1, max_size=HEAD))
def test_no_text_is_taken_for_a_recording(text: str) -> None:
    signatures = ("FLV\x01", "#!AMR", "RIFF", "RF64", "FORM")
    if "\0" not in text and not text.startswith(signatures):
        assert demuxer(text.encode("utf-8")) in ("", "mpegts" if text[0] == "G" or text[4:5] == "G" else "")


@pytest.mark.parametrize(
    "text", ["The free trial lasts 14 days", "Our wide range", "caffeine", "ID3 tags", "OggS pages"]
)
def test_a_text_that_begins_with_the_letters_of_a_recording_is_none(text: str) -> None:
    assert demuxer(text.encode()) == ""


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
    assert found.duration == 3723.5
    assert found.chapters == ((0.0, 60.0, "Threads"), (60.0, 3723.5, "Cards"))
    assert found.tags == {"title": "On looms", "artist": "A. Lovelace"}
    picture, sound, subtitles = found.picture(), found.sound(), found.subtitles()
    assert picture is not None and (picture.index, picture.width, picture.height) == (0, 1920, 1080)
    assert sound is not None and sound.index == 2
    assert subtitles is not None and subtitles.index == 3
    assert sum(s.kind == "Video" for s in found.streams) == 1


@given(st.text(max_size=500))
def test_any_account_can_be_read(text: str) -> None:
    described(text)


def test_a_film_of_many_chapters_is_described_whole(film: Film, ffmpeg: Callable[..., None], tmp_path: Path) -> None:
    told = tmp_path / "chapters.txt"
    rows = [f"[CHAPTER]\nTIMEBASE=1/10\nSTART={n}\nEND={n + 1}\ntitle=Part {n}\n" for n in range(60)]
    told.write_text(";FFMETADATA1\n" + "".join(rows))
    path = tmp_path / "many.mkv"
    ffmpeg("-i", str(film(seconds=6)), "-i", str(told), "-map_chapters", "1", "-c", "copy", str(path))
    found = examine(str(path), "matroska")
    assert found.picture() and len(found.chapters) == 60 and found.chapters[-1][2] == "Part 59"


def test_the_process_that_decodes_knows_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_DATABASE_URL", "postgresql+psycopg://u:secret@host/name")
    given: list[dict[str, str]] = []

    def started(*command: object, env: dict[str, str], **more: object) -> None:
        given.append(env)
        raise OSError

    monkeypatch.setattr("subprocess.Popen", started)
    with pytest.raises(OSError):
        run(["-version"])
    assert "secret" not in " ".join(given[0].values())
