"""Subtitles beside a recording: which belong to it, which is read, and SubStation Alpha."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.video.ass import HEAD, ass_cues
from ragweave.corpora.video.cues import is_transcript, read_transcript
from ragweave.corpora.video.sidecars import companion, subtitles_of_others


def made(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text("x")


@pytest.mark.parametrize("tag", ["zh", "zh-CN", "chs", "ja", "pt-BR", "en-US", "eng", "forced", "en.forced"])
@pytest.mark.parametrize("suffix", [".srt", ".vtt", ".ass"])
def test_subtitles_of_any_language_belong_to_the_recording(tmp_path: Path, tag: str, suffix: str) -> None:
    made(tmp_path, "a.part.mp4", f"a.part.{tag}{suffix}")
    film, told = str(tmp_path / "a.part.mp4"), str(tmp_path / f"a.part.{tag}{suffix}")
    assert companion(film) == Path(told)
    assert subtitles_of_others([film, told], lambda p: p.endswith(".mp4")) == {told: "a.part.mp4"}


def test_whole_subtitles_are_read_before_partial_ones_and_those_without_a_tag_first(tmp_path: Path) -> None:
    made(tmp_path, "a.mp4", "a.en.forced.srt", "a.de.srt", "a.en.srt")
    assert companion(str(tmp_path / "a.mp4")) == tmp_path / "a.en.srt"
    made(tmp_path, "a.vtt")
    assert companion(str(tmp_path / "a.mp4")) == tmp_path / "a.vtt"


def test_all_subtitles_of_a_recording_are_no_sources_of_their_own(tmp_path: Path) -> None:
    made(tmp_path, "a.mp4", "a.vtt", "a.de.srt", "b.en.srt", "b.mkv", "c.vtt", "d.vtt", "d.md", "ab.srt", "a.2.srt")
    paths = [str(p) for p in sorted(tmp_path.iterdir())]
    found = subtitles_of_others(paths, lambda p: p.endswith((".mp4", ".mkv")))
    assert {Path(p).name: other for p, other in found.items()} == {
        "a.vtt": "a.mp4",
        "a.de.srt": "a.mp4",
        "b.en.srt": "b.mkv",
    }


ASS = f"""{HEAD}
Title: A film

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:01:02.50,0:01:04.00,Default,Ada,0,0,0,,{{\\i1}}Second, with a comma.{{\\i0}}\\NAnd a line.
Comment: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,nobody says this
Dialogue: 0,0:00:01.00,0:00:03.00,Default,,0,0,0,,First.
Dialogue: 0,0:00:01.00,0:00:03.00,Default,,0,0,0,,{{\\p1}}m 0 0 l 100 0{{\\p0}}
Dialogue: 0,soon,0:00:03.00,Default,,0,0,0,,no time
"""


def test_the_dialogue_of_substation_alpha_is_read(tmp_path: Path) -> None:
    cues = ass_cues(ASS)
    assert [(c.start, c.end, c.text, c.speaker) for c in cues] == [
        (1.0, 3.0, "First.", ""),
        (62.5, 64.0, "Second, with a comma. And a line.", "Ada"),
    ]
    assert is_transcript(ASS[:200], ".ass")
    path = tmp_path / "film.ass"
    path.write_text(ASS)
    assert read_transcript(path)[0].cues == cues


@given(st.text(max_size=300))
def test_no_text_breaks_the_reader(text: str) -> None:
    cues = ass_cues(f"[Events]\nDialogue: {text}\n{text}")
    assert all(0 <= c.start <= c.end and c.text for c in cues)
