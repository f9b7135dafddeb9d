"""Transcripts in the forms that people have them, alone or beside a recording."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.decode import read_text
from ragweave.corpora.ingest.run import index
from ragweave.corpora.ingest.stages import kind_of, prepare
from ragweave.corpora.video import cues as module
from ragweave.corpora.video.cues import is_transcript, read_transcript, timed_cues
from ragweave.corpora.video.sidecars import companion, language_of, others, subtitles_of_others, tagged
from ragweave.corpora.video.subtitles import read_cues
from ragweave.models.errors import SourceError
from tests.corpora.video.conftest import warnings

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
SRT = (
    "1\n00:00:01,000 --> 00:00:02,000\n{\\an8}First line\n\n2\n00:00:03,500 --> 00:00:05,000\n<b>Second</b>"
    " line\n"
)
ROLLING = (
    "00:00.0 --> 00:02.0\none\n\n00:02.0 --> 00:04.0\none\ntwo\n\n00:04.0 --> 00:06.0\ntwo\nthree\n"
    "\n00:09.0 --> 00:10.0\nthree\n"
)


@pytest.mark.parametrize(
    ("text", "cues"),
    [
        (
            VTT,
            [
                (12.72, 15.12, "The engine weaves & counts", "Ada Lovelace"),
                (3601.0, 3602.5, "Later on two lines", ""),
            ],
        ),
        (SRT, [(1.0, 2.0, "First line", ""), (3.5, 5.0, "Second line", "")]),
        (
            "00:01.0 --> 00:04.0\n<v Ann>Shall we?</v>\n<v Bob>No.</v>\n",
            [(1.0, 4.0, "Shall we?", "Ann"), (1.0, 4.0, "No.", "Bob")],
        ),
        (
            ROLLING,
            [(0.0, 2.0, "one", ""), (2.0, 4.0, "two", ""), (4.0, 6.0, "three", ""), (9.0, 10.0, "three", "")],
        ),
    ],
    ids=["vtt", "srt", "voices", "lines that roll and a refrain"],
)
def test_times_speakers_and_plain_text_are_read(text: str, cues: list[tuple[float, float, str, str]]) -> None:
    assert [(c.start, c.end, c.text, c.speaker) for c in timed_cues(text)] == cues


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
        ("WEBVTT is a format of subtitles.\n", ".txt", False),
        ("WEBVTT\n\nNOTE nothing is said yet\n", ".vtt", True),
    ],
)
def test_transcripts_are_told_by_their_content(head: str, suffix: str, expected: bool) -> None:
    assert is_transcript(head, suffix) is expected


@pytest.mark.parametrize("line_end", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", SRT),
        ("a.vtt", f"\ufeff{VTT}"),
        ("a.srt", f"Downloaded from a place of subtitles\n\n{SRT}"),
        ("a.vtt", f"\n{VTT}"),
    ],
)
def test_subtitles_of_any_line_ends_and_below_any_remark_are_read_as_recordings(
    name: str, text: str, line_end: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(text.replace("\n", line_end).encode())
    assert kind_of(path) == "transcript" and len(read_transcript(path)[0].cues) == 2
    path = tmp_path / "explained.md"
    path.write_text(f"# SubRip\n\nIts cues look so:\n\n{SRT}")
    assert kind_of(path) == "markdown"


def test_rows_without_times_stand_between_stated_ones_by_their_words(tmp_path: Path) -> None:
    rows = [
        {"episode": "one", "speaker": "Ada", "t": 0, "text": "a b c"},
        {"episode": "one", "speaker": "Bob", "t": None, "text": "d"},
        {"episode": "one", "speaker": "Ada", "t": 8, "text": "e f"},
        {"text": "g h"},  # neither when nor of what: it goes on
        {"episode": "two", "speaker": "Ada", "t": 3, "text": "i j"},
    ]
    for name in ("show.jsonl", "show.json"):
        path = tmp_path / name
        path.write_text("\n".join(map(json.dumps, rows)) if name.endswith("l") else json.dumps(rows))
        assert kind_of(path) == "transcript"
        one, two = read_transcript(path)
        places = [(c.start, c.end, c.speaker) for c in one.cues]
        assert places == [(0, 6, "Ada"), (6, 8, "Bob"), (8, 12, "Ada"), (12, 16, "")]
        assert (one.title, two.title, two.cues[0].start) == ("one", "two", 3)


async def test_rows_that_are_no_json_are_named_or_counted_and_a_file_is_read_once(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [json.dumps({"text": f"The mill grinds wheat number {n}.", "start": 4 * n}) for n in range(300)]
    path = tmp_path / "mill.jsonl"
    path.write_text("\n".join([*rows[:20], "", rows[20][:-9], *rows[21:30], '{"text": "broken o']))
    assert (await index([path])).indexed == 1
    assert await warnings() == ["line 22 is not JSON", "line 32 is not JSON"]
    reads: list[Path] = []
    monkeypatch.setattr(module, "read_text", lambda path: reads.append(path) or read_text(path))
    path.write_text("\n".join([*rows, *["broken"] * 12]))
    told = prepare(path, "src", 300).warnings
    assert reads == [path] and len(told) == 11 and told[-1] == "2 more lines are not JSON"


def test_whisper_segments_are_read_and_a_transcript_without_utterances_is_refused(tmp_path: Path) -> None:
    path, empty = tmp_path / "talk.json", tmp_path / "empty.vtt"
    path.write_text(
        json.dumps({"text": "x", "segments": [{"start": 1.5, "end": 2.5, "text": " Hello  there"}]})
    )
    assert [(c.start, c.end, c.text) for c in read_transcript(path)[0].cues] == [(1.5, 2.5, "Hello there")]
    empty.write_text("WEBVTT\n\n")
    with pytest.raises(SourceError, match="no utterance with a time"):
        read_transcript(empty)


@given(st.text(max_size=300))
def test_any_text_gives_ordered_cues_and_never_an_error(text: str) -> None:
    found = timed_cues(f"WEBVTT\n\n{text}\n\n00:01.000 --> 00:02.000\nx\n\n{text}")
    assert all(c.text and 0 <= c.start <= c.end for c in found)
    assert [c.start for c in found] == sorted(c.start for c in found)


def put(folder: Path, names: str) -> None:
    for name in names.split():
        (folder / name).write_text("x")


def test_subtitles_of_any_language_belong_to_their_recording_and_one_of_each_language_is_read(
    tmp_path: Path,
) -> None:
    put(tmp_path, "a.mp4 a.vtt a.zh-CN.srt a.en.forced.srt b.eng.srt b.mkv c.vtt d.vtt d.md ab.srt a.2.srt")
    paths = [str(p) for p in sorted(tmp_path.iterdir())]
    found = subtitles_of_others(paths, lambda p: p.endswith((".mp4", ".mkv")))
    told = {Path(p).name: other for p, other in found.items()}
    assert told == {
        "a.vtt": "a.mp4",
        "a.zh-CN.srt": "a.mp4",
        "a.en.forced.srt": "a.mp4",
        "b.eng.srt": "b.mkv",
    }
    tags = ("zh-CN", "chs", "deu.forced", "pt_BR", "forced")
    assert [language_of(tag) for tag in tags] == ["zh", "zh", "de", "pt", ""]
    put(tmp_path, "f.mp4 f.en.srt f.eng.vtt f.de.srt f.de.forced.srt f.fr.forced.srt f.it.srt f.zh.srt")
    film = str(tmp_path / "f.mp4")
    assert companion(film) == tmp_path / "f.en.srt" and tagged(film) == "en"
    assert [p.name for p in others(film)] == ["f.de.srt", "f.it.srt"]
    put(tmp_path, "f.vtt")
    assert companion(film) == tmp_path / "f.vtt"
    assert others(str(tmp_path / "n.mp4")) == [] and tagged(str(tmp_path / "n.mp4")) == ""


FIRST = "1\n00:00:01,000 --> 00:00:04,000\nGood evening.\n\n2\n"
PIER = "The pier was rebuilt in 1998."


@pytest.mark.parametrize(
    ("times", "place"),
    [
        ("00:00:05:000 --> 00:00:09:000", (5, 9)),
        ("00:00:05,000 –> 00:00:09,000", (5, 9)),
        ("00:00:05,000 -> 00:00:09,000", (5, 9)),
        ("00:00:05,0000-->00:00:09,0000", (5, 9)),
        ("0:0:5.0 --> 0:0:9.0", (5, 9)),
        ("00:00:05 → 00:00:09", (5, 9)),
    ],
)
def test_times_with_small_slips_are_read(times: str, place: tuple[float, float]) -> None:
    cues, remarks = read_cues(f"{FIRST}{times}\n{PIER}\n\n3\n00:00:15,000 --> 00:00:19,000\nBye.\n")
    assert [(c.start, c.end, c.text) for c in cues] == [
        (1, 4, "Good evening."),
        (*place, PIER),
        (15, 19, "Bye."),
    ]
    assert not remarks


@pytest.mark.parametrize(
    "times",
    [
        "00:00:05,000 -->",
        "00:0O:05,000 --> 00:00:09,000",
        "00:00:05,000 --> 00:00:0d,000",
        "9999:00:05 --> 9999:00:09",
    ],
)
def test_a_cue_whose_time_cannot_be_read_is_placed_by_those_around_it_and_counted(times: str) -> None:
    cues, remarks = read_cues(f"{FIRST}{times}\n{PIER}\n\n3\n00:00:15,000 --> 00:00:19,000\nBye.\n")
    assert [c.text for c in cues] == ["Good evening.", PIER, "Bye."]
    assert 1 <= cues[1].start <= cues[1].end <= 15
    assert remarks == ("1 cue has a time that cannot be read, and was placed by the cues around it",)


def test_lines_behind_a_blank_one_belong_to_their_cue_and_names_and_notes_of_webvtt_do_not() -> None:
    srt = (
        f"{FIRST}00:00:05,000 --> 00:00:09,000\n{PIER}\n\nIt was long.\n2024\n\n3\n00:00:15,000 -->"
        " 00:00:19,000\nBye."
    )
    assert [c.text for c in timed_cues(srt)] == ["Good evening.", f"{PIER} It was long. 2024", "Bye."]
    vtt = (
        "WEBVTT\n\n00:01.0 --> 00:02.0\nOne\n\nNOTE\na remark\n\nintro\n00:03.0 --> 00:04.0\nA --> B at ten\n"
    )
    assert [c.text for c in timed_cues(vtt)] == ["One", "A --> B at ten"]


@pytest.mark.parametrize("end", ["99:59:59,999", "01:30:00,000"])
def test_an_end_long_after_the_words_makes_no_clips_without_words(tmp_path: Path, end: str) -> None:
    path = tmp_path / "a.srt"
    path.write_text(f"{FIRST}00:00:05,000 --> {end}\n{PIER}\n", encoding="utf-8")
    made = prepare(path, "s", 200)
    assert [i.text for i in made.items if i.corpus == "clip"] == [f"Good evening. {PIER}"]
    assert made.warnings == ("1 cue ends long after what is said, and was cut there",)


def test_a_long_silence_between_two_cues_makes_no_clips(tmp_path: Path) -> None:
    path = tmp_path / "a.srt"
    path.write_text(f"{FIRST}99:00:05,000 --> 99:00:09,000\n{PIER}\n", encoding="utf-8")
    assert [i.text for i in prepare(path, "s", 200).items if i.corpus == "clip"] == ["Good evening.", PIER]


@given(st.lists(st.text("ab \n", min_size=1, max_size=20).filter(str.strip), min_size=1, max_size=5))
def test_no_word_below_a_time_is_lost(texts: list[str]) -> None:
    whole = "".join(
        f"{n}\n00:00:{n:02},000 --> 00:00:{n:02},500\n{text}\n\n" for n, text in enumerate(texts, 1)
    )
    assert sorted(" ".join(c.text for c in timed_cues(whole)).split()) == sorted(" ".join(texts).split())
