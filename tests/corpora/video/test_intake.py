"""Videos and recordings on their whole way into a library."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ragweave.corpora.ingest.events import Event
from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.media import Media
from ragweave.models.errors import WeightsError
from ragweave.models.settings import model_settings
from tests.corpora.video.conftest import Film, Hears, ScriptedAsr, items, warnings

VTT = (
    "WEBVTT\n\n00:01.000 --> 00:03.000\nThe engine weaves algebraic patterns.\n\n00:05.000 --> 00:06.500\nIt"
    " counts.\n"
)
SAID = "The engine weaves algebraic patterns. It counts."


class Failing(ScriptedAsr):
    """Hears so many stretches, then the power fails."""

    def __init__(self, able: int, name: str) -> None:
        super().__init__("words", name=name)
        self.able, self.width = able, 1

    def transcribe(self, sound, language=""):  # type: ignore[no-untyped-def]
        if len(self.heard) == self.able:
            raise RuntimeError("the power fails")
        return super().transcribe(sound, language)


async def test_a_film_becomes_clips_with_frames_that_can_be_opened_and_of_a_short_one_more(
    film: Film,
) -> None:
    path = film(seconds=70)
    report = await index([path.parent])
    assert (report.indexed, report.failed) == (1, [])
    *clips, video = await items()
    assert [(c.locator["start"], c.locator["end"]) for c in clips] == [
        (0.0, 30.0),
        (30.0, 60.0),
        (60.0, 70.0),
    ]
    assert [t for t, _ in clips[0].frames] == [2.0 * n for n in range(15)]
    media = Media.of((await open_library()).id)
    assert all(media.path(image).read_bytes()[:3] == b"\xff\xd8\xff" for _, image in clips[0].frames)
    assert clips[0].locator["image"] in (clips[0].frames[7][1], clips[0].frames[8][1])
    assert (video.title, video.text, video.meta["duration"]) == ("film", "film", 70.0)
    await index([film("short.mp4", 8)], "other")
    assert len((await items("other"))[0].frames) == 32


async def test_what_is_heard_stands_in_the_clip_with_absolute_seconds(film: Film, hears: Hears) -> None:
    hears(ScriptedAsr("one two three four five", "Bernoulli numbers come later here"))
    await index([film(seconds=40).parent])
    first, second, _ = await items()
    assert first.meta["speech"] == "whisper" and first.text.startswith("one two three four five")
    at = first.text.index("Bernoulli")
    where = first.locate(at, at + 9)
    assert (where["start"], where["end"]) == (10.0, 20.0)
    assert second.locator["start"] == pytest.approx(30.0, abs=0.5)


async def test_subtitles_beside_a_film_are_used_and_others_make_it_be_taken_in_again(film: Film) -> None:
    path = film(seconds=8)
    path.with_suffix(".vtt").write_text(VTT)
    report = await index([path.parent])
    assert [Path(p).name for p, why in report.skipped if "subtitles of film.mp4" in why] == ["film.vtt"]
    clip, _ = await items()
    assert (report.indexed, clip.meta["speech"], clip.text) == (1, "subtitles", SAID)
    assert (await index([path.parent])).unchanged == 1
    path.with_suffix(".vtt").write_text(VTT.replace("It counts", "It computes"))
    assert (await index([path.parent])).indexed == 1 and "It computes" in (await items())[0].text


async def test_a_moved_film_is_the_same_and_a_removed_one_leaves_nothing(film: Film, home: Path) -> None:
    path = film(seconds=4)
    path.with_name("note.txt").write_text("A note that stays.")
    await index([path.parent])
    os.rename(path, path.with_name("other.mp4"))
    report = await index([path.parent])
    # From what was perceived, for the sake of its name; one file is counted once.
    assert (report.indexed, report.linked, report.removed) == (1, 0, 1)
    first = (await items())[0]
    assert first.locator["file"].endswith("other.mp4") and first.title == "other"
    kept = home / "libraries" / (await open_library()).id
    assert os.listdir(kept / "perceived")
    os.remove(path.with_name("other.mp4"))
    assert (await index([path.parent])).removed == 1 and await items() == []
    assert os.listdir(kept / "perceived") == os.listdir(kept / "media") == []


async def test_progress_tells_each_stage_and_every_recording_waits_to_be_heard_before_the_first_is(
    film: Film, hears: Hears
) -> None:
    hears(ScriptedAsr("hello there"))
    names = ("a.mp3", "b.mp3", "c.mp3")
    for name in names:
        film(name, 20 + ord(name[0]) % 7, picture=False)
    path = film("told.mp4", 20)
    path.with_suffix(".vtt").write_text(VTT)
    told: list[Event] = []
    await index([path.parent], on_event=told.append)
    rows = [e for e in told if e.kind == "perceived"]
    assert {Path(e.path).name for e in rows if e.stage == "asr" and not e.done} == {*names}
    for name, stage in (*((n, "asr") for n in names), ("told.mp4", "look")):
        mine = [e for e in rows if e.path.endswith(name)]
        assert {e.stage for e in mine} == {stage}
        assert mine[0].done == 0 < mine[0].total and mine[-1].done == mine[-1].total
    assert told[-1].kind == "finished"


async def test_another_recogniser_hears_everything_again_and_looks_at_nothing(
    film: Film, hears: Hears, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = film(seconds=30)
    hears(ScriptedAsr("the pots", "mumbled words", name="weak", sure=(0.95, 0.5)))
    await index([path.parent])
    assert next(i for i in await items() if i.corpus == "video").meta["heard_by"] == "weak"
    monkeypatch.setattr("ragweave.corpora.video.look.frames", lambda *_: pytest.fail("looked again"))
    better = ScriptedAsr("understood now", name="good")
    hears(better)
    assert (await index([path.parent])).indexed == 1 and better.heard == [10.0, 10.0, 10.0]
    clip, whole = await items()
    assert "pots" not in clip.text and "mumbled" not in clip.text and clip.text.count("understood now") == 3
    assert whole.meta["heard_by"] == "good"
    # Taken in anew for another reason it has nothing to hear.
    (path.parent / "film.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nWritten.\n", encoding="utf-8")
    await index([path.parent])
    (path.parent / "film.srt").unlink()
    await index([path.parent])
    assert len(better.heard) == 3 and (await items())[0].text == clip.text


async def test_an_engine_is_given_the_language_of_most_of_the_recording_so_far(
    film: Film, hears: Hears
) -> None:
    engine = ScriptedAsr("words", name="one at a time")
    engine.width = 1
    hears(engine)
    path = film(seconds=30)
    await index([path.parent])
    assert engine.languages == ["", "en", "en"]


async def test_a_model_that_cannot_be_opened_costs_a_film_its_words_until_it_can(
    film: Film, hears: Hears
) -> None:
    class Broken(ScriptedAsr):
        def check(self) -> None:
            raise WeightsError("the model is torn", "fetch it again")

    path = film(seconds=8)
    hears(Broken("words", name="w"))
    report = await index([path.parent])
    assert (report.indexed, report.failed) == (1, [])
    assert await warnings() == ["what is said in it was not heard: the model is torn. Fetch it again."]
    assert (await items())[0].frames and (await items())[0].text == ""
    told = film("told.mp4", 9)
    told.with_suffix(".vtt").write_text(VTT)
    await index([told])
    assert (await index([told])).unchanged == 1, "what has subtitles needs no model"
    hears(ScriptedAsr("words", name="w"))
    assert (await index([path.parent])).indexed == 1 and "words" in {i.text for i in await items()}
    assert await warnings() == [] and (await index([path.parent])).unchanged == 2


async def test_without_a_downloaded_model_a_film_is_looked_at_its_subtitles_are_read_and_the_rest_is_said(
    film: Film, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_ASR", "auto")
    model_settings.cache_clear()
    film("mute.mp4", 8, sound="")
    film("film.mp4", 8)
    path = film("told.mp4", 8)
    path.with_suffix(".vtt").write_text(VTT)
    report = await index([path.parent])
    assert (report.indexed, report.failed) == (3, [])
    [said] = await warnings()
    assert (
        said == "what is said in it was not heard: the model that hears speech was not downloaded; "
        "`ragweave setup speech` fetches it"
    )
    assert SAID in {i.text for i in await items()} and all(
        i.frames for i in await items() if i.corpus == "clip"
    )


@pytest.mark.parametrize("between", [False, True])
async def test_a_stopped_run_goes_on_where_it_ended(
    film: Film, hears: Hears, tmp_path: Path, between: bool
) -> None:
    path = film(seconds=60)
    hears(Failing(3, "scripted"))
    with pytest.raises(RuntimeError, match="the power fails"):
        await index([path.parent])
    if between:  # whoever is at work meanwhile takes nothing of it for left over
        (tmp_path / "note.txt").write_text("A note.")
        assert (await index([tmp_path / "note.txt"])).indexed == 1
        library = await open_library()
        await library.remove((await library.sources())[0].id)
    going = ScriptedAsr("words")
    hears(going)
    assert (await index([path.parent])).indexed == 1 and len(going.heard) <= 3


async def test_without_the_extra_a_film_is_named_and_its_transcript_is_indexed(
    film: Film, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = film(seconds=4)
    path.with_suffix(".vtt").write_text(VTT)
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    monkeypatch.setattr("ragweave.corpora.ingest.run_stages.installed", lambda: False)
    report = await index([path.parent])
    [(failed, why)] = report.failed
    assert report.indexed == 1 and failed.endswith("film.mp4") and "ragweave[video]" in why
