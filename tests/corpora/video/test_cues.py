"""Transcripts in the forms that people have them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.decode import read_text
from ragweave.corpora.ingest.run import index
from ragweave.corpora.ingest.stages import kind_of, prepare
from ragweave.corpora.store.library import open_library
from ragweave.corpora.video import cues as module
from ragweave.corpora.video.ass import ass_cues
from ragweave.corpora.video.cues import is_transcript, read_transcript, timed_cues
from ragweave.models.errors import SourceError

FIELDS = "Layer Start End Style Name MarginL MarginR MarginV Effect Text".split()
VTT = """WEBVTT - made by hand

STYLE
::cue { color: white }

NOTE a remark

intro
00:12.720 --> 00:15.120 align:start
<v Ada Lovelace>The <i>engine</i> weaves &amp; counts

01:00:01.000 --> 01:00:02.500
Later
on two lines
"""

SRT = """1
00:00:01,000 --> 00:00:02,000
{\\an8}First line

2
00:00:03,500 --> 00:00:05,000
<b>Second</b> line
"""

ASS = """[Script Info]
Title: A film

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,First line
Dialogue: 0,0:00:03.50,0:00:05.00,Default,,0,0,0,,Second line
"""


def test_webvtt_gives_times_speakers_and_plain_text() -> None:
    first, second = timed_cues(VTT)
    assert (first.start, first.end, first.text, first.speaker) == (
        12.72,
        15.12,
        "The engine weaves & counts",
        "Ada Lovelace",
    )
    assert (second.start, second.end, second.text) == (3601.0, 3602.5, "Later on two lines")


def test_subrip_gives_times_and_text_without_marks() -> None:
    assert [(c.start, c.end, c.text) for c in timed_cues(SRT)] == [(1.0, 2.0, "First line"), (3.5, 5.0, "Second line")]


def test_captions_that_roll_say_every_line_once() -> None:
    text = "WEBVTT\n\n00:00.0 --> 00:02.0\none\n\n00:02.0 --> 00:04.0\none\ntwo\n\n00:04.0 --> 00:06.0\ntwo\nthree\n"
    assert [c.text for c in timed_cues(text)] == ["one", "two", "three"]


def test_a_refrain_after_a_pause_is_kept() -> None:
    text = "WEBVTT\n\n00:00.0 --> 00:02.0\nyes\n\n00:09.0 --> 00:10.0\nyes\n"
    assert [c.text for c in timed_cues(text)] == ["yes", "yes"]


@pytest.mark.parametrize(
    ("head", "suffix", "expected"),
    [
        (VTT, ".txt", True),
        (SRT, ".doc", True),
        ('{"text": "So welcome to this talk", "start": 0.0}\n', ".jsonl", True),
        ('{"text": "some review of a film", "stars": 4}\n', ".jsonl", False),
        ('{"text": "one two three", "t": null}\n', ".jsonl", False),
        ('{"text": "one two three", "t": 1}\n' + '{"text": "some review of a film"}\n' * 3, ".jsonl", False),
        ('{"segments": [{"start": 0.0, "end": 2.0, "text": " Hello there"}]}', ".json", True),
        ('{"name": "a package", "version": "1.0"}', ".json", False),
        ("plain words --> more words", ".txt", False),
        ("10:30 --> 11:15 meeting with Bob\n12:00 --> 13:00 lunch\n", ".txt", False),
        ("00:01.000 --> 00:04.000 align:start position:0%\nHello\n", ".txt", True),
        ("WEBVTT is a format of subtitles.\n", ".txt", False),
        ("WEBVTT\n\nNOTE nothing is said yet\n", ".vtt", True),
    ],
)
def test_transcripts_are_told_by_their_content(head: str, suffix: str, expected: bool) -> None:
    assert is_transcript(head, suffix) is expected


@pytest.mark.parametrize("line_end", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(("name", "text"), [("a.srt", SRT), ("a.txt", SRT), ("a.vtt", VTT), ("a.ass", ASS)])
def test_subtitles_of_any_line_ends_are_read_as_recordings(
    name: str, text: str, mark: str, line_end: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes((mark + text.replace("\n", line_end)).encode())
    assert kind_of(path) == "transcript"
    assert len(read_transcript(path)[0].cues) == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.srt", f"Downloaded from a place of subtitles\n\n{SRT}"),
        ("a.srt", f"\n\n{SRT}"),
        ("a.vtt", f"\n{VTT}"),
        ("a.ass", f"\n; a remark\n! another\n{ASS}"),
    ],
)
def test_what_stands_above_the_first_cue_makes_subtitles_no_text(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert kind_of(path) == "transcript"
    assert len(read_transcript(path)[0].cues) == 2


def test_a_text_that_explains_subtitles_stays_a_text(tmp_path: Path) -> None:
    path = tmp_path / "explained.md"
    path.write_text(f"# SubRip\n\nIts cues look so:\n\n{SRT}")
    assert kind_of(path) == "markdown"


def test_rows_without_times_are_spread_between_stated_ones_by_their_words(tmp_path: Path) -> None:
    rows = [
        {"episode": "one", "speaker": "Ada", "t": 0, "text": "a b c"},
        {"episode": "one", "speaker": "Bob", "t": None, "text": "d"},
        {"episode": "one", "speaker": "Ada", "t": 8, "text": "e f"},
        {"episode": "two", "speaker": "Ada", "t": 3, "text": "g h"},
    ]
    path = tmp_path / "show.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    one, two = read_transcript(path)
    assert kind_of(path) == "transcript"
    assert [(c.start, c.end, c.speaker) for c in one.cues] == [(0, 6, "Ada"), (6, 8, "Bob"), (8, 12, "Ada")]
    assert (one.title, two.title, two.cues[0].start) == ("one", "two", 3)


@pytest.mark.parametrize("name", ["mill.jsonl", "mill.json"])
def test_a_row_that_has_no_time_at_all_stands_between_its_neighbours(name: str, tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"text": "The mill is old.", "start": 0.0, "end": 4.0},
        {"text": "The miller is Mr Oakes."},
        {"text": "It stands by the sea.", "start": 10.0, "end": 14.0},
        {"text": "It grinds wheat."},
    ]
    path = tmp_path / name
    path.write_text("\n".join(map(json.dumps, rows)) if name.endswith("l") else json.dumps(rows))
    assert kind_of(path) == "transcript"
    [found] = read_transcript(path)
    assert [c.text for c in found.cues] == [r["text"] for r in rows]
    assert 4.0 <= found.cues[1].start < found.cues[1].end <= 10.0 and found.cues[3].start > 10.0


def test_a_row_that_names_neither_time_nor_recording_belongs_to_that_of_the_row_before(tmp_path: Path) -> None:
    rows = [{"episode": "one", "t": 3, "text": "a b"}, {"text": "c d"}, {"episode": "two", "t": 0, "text": "e f"}]
    path = tmp_path / "show.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert [[c.text for c in r.cues] for r in read_transcript(path)] == [["a b", "c d"], ["e f"]]


async def test_rows_of_a_transcript_that_are_no_json_are_named(home: Path, tmp_path: Path) -> None:
    rows = [json.dumps({"text": f"The mill grinds wheat number {n}.", "start": 4 * n}) for n in range(30)]
    path = tmp_path / "mill.jsonl"
    path.write_text("\n".join([*rows[:20], "", rows[20][:-9], *rows[21:], '{"text": "broken o']))
    assert (await index([path])).indexed == 1
    [source] = await (await open_library()).sources()
    assert source.kind == "transcript" and source.warnings == ("line 22 is not JSON", "line 32 is not JSON")


def test_a_transcript_is_read_once_and_of_many_lines_that_are_no_json_the_others_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[Path] = []
    monkeypatch.setattr(module, "read_text", lambda path: reads.append(path) or read_text(path))
    rows = [json.dumps({"text": f"The mill grinds wheat number {n}.", "start": 4 * n}) for n in range(300)]
    path = tmp_path / "mill.jsonl"
    path.write_text("\n".join([*rows, *["broken"] * 12]))
    warnings = prepare(path, "src", 300).warnings
    assert reads == [path] and warnings[0] == "line 301 is not JSON"
    assert len(warnings) == 11 and warnings[-1] == "2 more lines are not JSON"


def test_whisper_segments_are_read(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps({"text": "x", "segments": [{"start": 1.5, "end": 2.5, "text": " Hello  there"}]}))
    [found] = read_transcript(path)
    assert [(c.start, c.end, c.text) for c in found.cues] == [(1.5, 2.5, "Hello there")]


def test_a_transcript_without_utterances_is_refused_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "empty.vtt"
    path.write_text("WEBVTT\n\n")
    with pytest.raises(SourceError, match="no utterance with a time"):
        read_transcript(path)


@given(st.text(max_size=300))
def test_any_text_gives_ordered_cues_and_never_an_error(text: str) -> None:
    found = timed_cues(f"WEBVTT\n\n{text}\n\n00:01.000 --> 00:02.000\nx\n\n{text}")
    assert all(c.text and c.start <= c.end for c in found)
    assert [c.start for c in found] == sorted(c.start for c in found)


def test_what_two_voices_say_in_one_cue_is_told_of_each() -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:04.000\n<v Ann>Shall we raise it?</v>\n<v Bob>I am against it.</v>\n"
    assert [(c.speaker, c.text) for c in timed_cues(text)] == [
        ("Ann", "Shall we raise it?"),
        ("Bob", "I am against it."),
    ]


def test_what_only_sets_letters_parts_no_word() -> None:
    line = r"Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,It{\i1}'s{\i0} {\k20}fi{\k20}ne\Nhere"
    (cue,) = ass_cues(f"[Script Info]\n[Events]\nFormat: {', '.join(FIELDS)}\n{line}\n")
    assert cue.text == "It's fine here"
