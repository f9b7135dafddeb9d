"""How long a recording is, where its picture, its sound, its container and its subtitles do not agree."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragweave.corpora.ingest.run import index
from tests.corpora.video.conftest import Film
from tests.corpora.video.test_bad_input import warnings
from tests.corpora.video.test_intake import items

Ffmpeg = Callable[..., None]
SUBTITLES = "\n\n".join(
    f"{n}\n00:{at // 60:02}:{at % 60:02},000 --> 00:{(at + 4) // 60:02}:{(at + 4) % 60:02},000\n{text}\n"
    for n, (at, text) in enumerate(((1, "The first words."), (6, "The last words."), (300, "Words of another film.")))
)


async def test_a_film_whose_sound_goes_on_behind_its_picture_is_not_broken_off(film: Film, ffmpeg: Ffmpeg) -> None:
    short, long = film("short.mp4", 8), film("long.mp3", 40, picture=False)
    ffmpeg("-i", str(short), "-i", str(long), "-map", "0:v", "-map", "1:a", str(short.with_name("both.mkv")))
    short.unlink()
    long.unlink()
    assert (await index([short.parent])).indexed == 1
    assert not [w for w in await warnings() if "broken off" in w]
    assert (await items())[-1].locator["end"] == pytest.approx(40, abs=0.5)


async def test_subtitles_that_go_on_behind_the_film_are_told_and_nothing_cites_their_seconds(film: Film) -> None:
    path = film(seconds=8)
    path.with_suffix(".srt").write_text(SUBTITLES)
    path.with_suffix(".de.srt").write_text(SUBTITLES.replace("Words", "Worte"))
    assert (await index([path.parent])).indexed == 1
    clip, whole = await items()
    assert clip.text.startswith("The first words. The last words.") and "another film" not in clip.text
    assert whole.locator["end"] == pytest.approx(8, abs=0.1)
    assert all(s.time is None or s.time[1] <= 8.1 for i in (clip, whole) for s in i.spans)
    told = [w for w in await warnings() if "behind the end" in w]
    assert told and set(told) == {
        "the subtitles go on to 5:04, behind the end of the recording at 0:08, and do not fit it: 1 of 3 were left out"
    }


@pytest.mark.parametrize("picture", [True, False])
async def test_subtitles_of_a_sound_that_goes_on_behind_the_picture_are_kept(
    picture: bool, film: Film, ffmpeg: Ffmpeg
) -> None:
    sound = film("long.m4a", 310, picture=False)
    both = sound
    if picture:
        both = sound.with_name("both.mkv")
        ffmpeg("-i", str(film("short.mp4", 4)), "-i", str(sound), "-map", "0:v", "-map", "1:a", str(both))
        sound.unlink()
        both.with_name("short.mp4").unlink()
    both.with_suffix(".srt").write_text(SUBTITLES)
    assert (await index([both.parent])).indexed == 1
    found = await items()
    assert any("another film" in i.text for i in found)
    assert found[-1].locator["end"] == pytest.approx(310, abs=0.5)
    assert await warnings() == []
