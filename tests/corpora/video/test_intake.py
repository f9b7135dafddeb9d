"""Videos and recordings on their whole way into a library."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from glob import glob
from pathlib import Path

import pytest

from ragweave.corpora.chunks import chunks_of
from ragweave.corpora.ingest.events import Event
from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.media import Media
from ragweave.corpora.types import Item
from ragweave.corpora.video.listen import _heard_before
from ragweave.corpora.video.perceived import Perceived
from tests.corpora.video.conftest import Film, ScriptedAsr

VTT = (
    "WEBVTT\n\n00:01.000 --> 00:03.000\nThe engine weaves algebraic patterns.\n\n00:05.000 --> 00:06.500\nIt counts.\n"
)


async def items(library: str = "default") -> list[Item]:
    found = await open_library(library)
    pages = [p for c in ("clip", "video") for p in found.held.catalog.pages(found.id, c)]  # type: ignore[arg-type]
    return list((await found.items([item.id for page in pages for item in page])).values())


async def test_a_film_becomes_clips_with_frames_that_can_be_opened(film: Film) -> None:
    path = film(seconds=70)
    report = await index([path.parent])
    assert (report.indexed, report.failed) == (1, [])
    *clips, video = await items()
    assert [(c.locator["start"], c.locator["end"]) for c in clips] == [(0.0, 30.0), (30.0, 60.0), (60.0, 70.0)]
    frames = clips[0].meta["frames"]
    assert isinstance(frames, list)
    assert [t for t, _ in frames] == [2.0 * n for n in range(15)]
    library = await open_library()
    for _, image in frames:
        assert Media.of(library.id).path(image).read_bytes()[:3] == b"\xff\xd8\xff"
    assert clips[0].locator["image"] == frames[7][1] or clips[0].locator["image"] == frames[8][1]
    assert (video.title, video.text, video.meta["duration"]) == ("film", "film", 70.0)


async def test_a_short_film_is_looked_at_more_closely(film: Film) -> None:
    await index([film(seconds=8).parent])
    clip, _ = await items()
    frames = clip.meta["frames"]
    assert isinstance(frames, list)
    assert len(frames) == 32


async def test_what_is_heard_stands_in_the_clip_with_absolute_seconds(
    film: Film, hears: Callable[[ScriptedAsr | None], None]
) -> None:
    hears(ScriptedAsr("one two three four five", "Bernoulli numbers come later here"))
    await index([film(seconds=40).parent])
    first, second, _ = await items()
    assert first.meta["speech"] == "whisper"
    assert first.text.startswith("one two three four five")
    at = first.text.index("Bernoulli")
    where = first.locate(at, at + 9)
    assert (where["start"], where["end"]) == (10.0, 20.0)
    assert second.locator["start"] == pytest.approx(30.0, abs=0.5)


async def test_subtitles_beside_a_film_are_used_and_are_no_source_of_their_own(film: Film) -> None:
    path = film(seconds=8)
    path.with_suffix(".vtt").write_text(VTT)
    report = await index([path.parent])
    assert report.indexed == 1
    assert [Path(p).name for p, why in report.skipped if "subtitles of film.mp4" in why] == ["film.vtt"]
    clip, _ = await items()
    assert (clip.meta["speech"], clip.text) == ("subtitles", "The engine weaves algebraic patterns. It counts.")


async def test_other_subtitles_make_the_film_be_taken_in_again(film: Film) -> None:
    path = film(seconds=8)
    path.with_suffix(".vtt").write_text(VTT)
    await index([path.parent])
    path.with_suffix(".vtt").write_text(VTT.replace("It counts", "It computes"))
    report = await index([path.parent])
    assert report.indexed == 1
    assert "It computes" in (await items())[0].text


async def test_subtitles_inside_a_film_are_used(film: Film, ffmpeg: Callable[..., None]) -> None:
    path = film("plain.mp4", 8)
    subtitles = path.parent.parent / "told.vtt"
    subtitles.write_text(VTT)
    both = path.with_name("told.mkv")
    ffmpeg("-i", str(path), "-i", str(subtitles), "-map", "0", "-map", "1", "-c:v", "copy", "-c:a", "copy", str(both))
    path.unlink()
    await index([both])
    clip, _ = await items()
    assert (clip.meta["speech"], clip.text) == ("subtitles", "The engine weaves algebraic patterns. It counts.")


@pytest.mark.parametrize("name", ["a.mp3", "a.wav", "a.flac", "a.ogg", "a.m4a"])
async def test_sound_alone_becomes_clips(name: str, film: Film, hears: Callable[[ScriptedAsr | None], None]) -> None:
    hears(ScriptedAsr("hello there"))
    path = film(name, 12, picture=False)
    assert (await index([path.parent])).indexed == 1
    clip, video = await items()
    assert clip.text.startswith("hello there")
    assert "image" not in video.locator
    [source] = await (await open_library()).sources()
    assert source.kind == "audio"


@pytest.mark.parametrize("name", ["a.mkv", "a.webm", "a.mov", "a.avi", "a.ts"])
async def test_containers_are_told_by_their_content(name: str, film: Film) -> None:
    path = film(name, 4)
    os.rename(path, path.with_name("misnamed.txt"))
    report = await index([path.parent])
    assert (report.indexed, report.failed) == (1, [])
    [source] = await (await open_library()).sources()
    assert source.kind == "video"


async def test_a_film_under_two_names_is_one_and_a_moved_one_the_same(film: Film) -> None:
    path = film(seconds=4)
    await index([path.parent])
    os.rename(path, path.with_name("other.mp4"))
    report = await index([path.parent])
    # From what was perceived, for the sake of its name; one file is counted once.
    assert (report.files, report.indexed, report.linked, report.removed) == (1, 1, 0, 1)
    first = (await items())[0]
    assert first.locator["file"].endswith("other.mp4") and first.title == "other"


async def test_an_unchanged_film_is_not_even_hashed_twice(film: Film) -> None:
    path = film(seconds=4)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    await index([path.parent])
    assert (await index([path.parent])).unchanged == 1


async def test_progress_tells_stage_and_how_far_it_has_come(film: Film) -> None:
    told: list[Event] = []
    await index([film(seconds=8).parent], on_event=told.append)
    found = [e for e in told if e.kind == "perceived"]
    assert {e.stage for e in found} == {"look"}
    assert (found[0].done, found[0].total) == (0, pytest.approx(8, abs=0.2))
    assert found[-1].done == found[-1].total


async def test_every_recording_waits_to_be_heard_before_the_first_one_is(
    film: Film, hears: Callable[[ScriptedAsr | None], None]
) -> None:
    hears(ScriptedAsr("hello there"))
    for name in ("a.mp3", "b.mp3", "c.mp3"):
        folder = film(name, 20 + ord(name[0]) % 7, picture=False).parent
    film("told.mp4", 20).with_suffix(".vtt").write_text(VTT)
    told: list[Event] = []
    await index([folder], on_event=told.append)
    heard = [e for e in told if e.kind == "perceived" and e.stage == "asr"]
    assert {Path(e.path).name for e in heard if not e.done} == {"a.mp3", "b.mp3", "c.mp3"}
    for name in ("a.mp3", "b.mp3", "c.mp3"):
        mine = [e for e in heard if e.path.endswith(name)]
        assert mine[0].done == 0 < mine[0].left and mine[-1].done == mine[-1].total
    assert told[-1].kind == "finished" and told[-1].left == 0


@pytest.mark.parametrize("alone", [False, True])
async def test_a_film_is_perceived_once_for_all_libraries_unless_they_are_to_be_apart(
    film: Film, hears: Callable[[ScriptedAsr | None], None], alone: bool
) -> None:
    engine = ScriptedAsr("hello there")
    hears(engine)
    path = film(seconds=12)
    await index([path.parent], "first")
    heard = len(engine.heard)
    report = await index([path.parent], "second", alone=alone)
    assert report.indexed == 1 and len(engine.heard) == (2 * heard if alone else heard)
    first, second = await items("first"), await items("second")
    assert [i.text for i in first] == [i.text for i in second] and second[0].meta["frames"]
    path.unlink()
    path.with_name("note.txt").write_text("A note that stays.")
    assert (await index([path.parent], "first")).removed == 1
    assert await items("second") == second


async def test_a_removed_film_leaves_nothing(film: Film, home: Path) -> None:
    path = film(seconds=4)
    path.with_name("note.txt").write_text("A note that stays.")
    await index([path.parent])
    library = await open_library()
    assert list((home / "libraries" / library.id / "perceived").iterdir())
    path.unlink()
    assert (await index([path.parent])).removed == 1
    assert await items() == []
    assert not list((home / "libraries" / library.id / "perceived").iterdir())
    assert not list((home / "libraries" / library.id / "media").iterdir())


async def test_hearing_again_with_another_model_looks_at_nothing_again(
    film: Film, hears: Callable[[ScriptedAsr | None], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = film(seconds=12)
    hears(ScriptedAsr("first try", name="one", sure=0.5))
    await index([path.parent])
    monkeypatch.setattr("ragweave.corpora.video.look.frames", lambda *_: pytest.fail("looked again"))
    better = ScriptedAsr("second and better try", name="two")
    hears(better)
    report = await index([path.parent])
    assert (report.indexed, report.failed) == (1, [])
    assert (await items())[0].text.startswith("second and better try")
    assert len((await items())[0].meta["frames"]) > 10  # type: ignore[arg-type]


async def test_a_better_recogniser_hears_again_only_what_the_one_before_was_not_sure_of(
    film: Film, hears: Callable[[ScriptedAsr | None], None]
) -> None:
    path = film(seconds=30)
    hears(ScriptedAsr("clear words", "mumbled words", "clear again", name="weak", sure=(0.9, 0.5, 0.8)))
    await index([path.parent])
    better = ScriptedAsr("understood now", name="good")
    better.longest = 28.0
    hears(better)
    assert (await index([path.parent])).indexed == 1
    assert better.heard == [10.0]
    text = (await items())[0].text
    assert "clear words" in text and "clear again" in text and "understood now" in text and "mumbled" not in text
    # Taken in anew for another reason it has nothing to hear.
    (path.parent / "film.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nWritten.\n", encoding="utf-8")
    await index([path.parent])
    (path.parent / "film.srt").unlink()
    await index([path.parent])
    assert len(better.heard) == 1 and (await items())[0].text == text


@pytest.mark.parametrize(("before", "now", "longest"), [(15.0, 28.0, 15.0), (28.0, 15.0, 15.0), (None, 28.0, 28.0)])
def test_speech_is_parted_as_it_was_for_another_recogniser_where_this_one_can_take_that(
    tmp_path: Path, before: float | None, now: float, longest: float
) -> None:
    kept = Perceived(tmp_path)
    one, two = ScriptedAsr("", name="one"), ScriptedAsr("", name="two")
    if before is not None:
        one.longest = before
        assert _heard_before(kept, one) == ([], before)  # type: ignore[arg-type]
    two.longest = now
    expected = (["one"] if before else [], longest)
    assert _heard_before(kept, two) == expected  # type: ignore[arg-type]
    assert _heard_before(kept, two) == expected  # type: ignore[arg-type]
    kept.close()


@pytest.mark.parametrize("between", [False, True])
async def test_a_stopped_run_goes_on_where_it_ended(
    film: Film, hears: Callable[[ScriptedAsr | None], None], between: bool
) -> None:
    path = film(seconds=60)

    class Stopping(ScriptedAsr):
        def transcribe(self, sound, speech=1.0):  # type: ignore[no-untyped-def]
            if len(self.heard) == 3:
                raise RuntimeError("the power fails")
            return super().transcribe(sound, speech)

    stopping = Stopping("words")
    stopping.width = 1
    hears(stopping)
    with pytest.raises(RuntimeError, match="the power fails"):
        await index([path.parent])
    if between:  # whoever is at work meanwhile takes nothing of it for left over
        note = path.parent.parent / "note.txt"
        note.write_text("A note.")
        assert (await index([note])).indexed == 1
        library = await open_library()
        await library.remove((await library.sources())[0].id)
    going = ScriptedAsr("words")
    hears(going)
    assert (await index([path.parent])).indexed == 1
    assert len(going.heard) <= 3


async def test_a_film_that_is_left_out_or_removed_while_it_is_heard_anew_leaves_nothing_though_it_lies_there(
    film: Film, home: Path, hears: Callable[[ScriptedAsr | None], None]
) -> None:
    path = film(seconds=12)
    perceived = home / "libraries" / "*" / "perceived" / "*"

    class Failing(ScriptedAsr):
        def transcribe(self, sound, speech=1.0):  # type: ignore[no-untyped-def]
            raise RuntimeError("the power fails")

    for name in ("left out", "removed"):
        hears(ScriptedAsr("words", name=name, sure=0.5))
        await index([path.parent])
        hears(Failing("words", name=f"{name} later"))
        with pytest.raises(RuntimeError, match="the power fails"):
            await index([path.parent])
        assert len(glob(str(perceived))) == 1
        library = await open_library()
        if name == "removed":
            await library.remove((await library.sources())[0].id)
        else:
            (ignored := path.with_name(".ragweaveignore")).write_text("*.mp4")
            assert (await index([path.parent])).removed == 1
            ignored.unlink()
        assert not glob(str(perceived))


async def test_without_the_extra_a_film_is_named_and_its_transcript_is_indexed(
    film: Film, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = film(seconds=4)
    path.with_suffix(".vtt").write_text(VTT)
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    monkeypatch.setattr("ragweave.corpora.ingest.run.installed", lambda: False)
    report = await index([path.parent])
    assert report.indexed == 1
    [(failed, why)] = report.failed
    assert failed.endswith("film.mp4") and "ragweave[video]" in why


async def test_chunks_of_a_library_can_be_listed_by_source(film: Film) -> None:
    path = film(seconds=8)
    path.with_suffix(".vtt").write_text(VTT)
    await index([path.parent])
    found = await items()
    [chunk] = chunks_of(found)
    assert (chunk.source, chunk.clips) == (found[0].source, (found[0].id,))
    json.dumps(found[0].meta)
    assert threading.active_count() < 50
