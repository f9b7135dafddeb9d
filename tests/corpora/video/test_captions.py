"""Captions of clips: asked for side by side, kept, missed with a sentence, asked for again."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence

import pytest

from ragweave.corpora.ingest.run import Models, index
from ragweave.corpora.store.library import open_library
from ragweave.models.caption import Captioner
from ragweave.models.errors import ModelError
from tests.corpora.video.conftest import Film, items


class Eye:
    """A vision model that says what it was shown."""

    def __init__(self, name: str = "eye") -> None:
        self.asked: list[tuple[int, str]] = []
        self.at_once = self.most = 0
        self.down = False
        self.silent = False
        self.captioner = Captioner(name, self.ask, self.check)

    async def check(self) -> None:
        if self.down:
            raise ModelError("the vision model is down", "start it")

    async def ask(self, images: Sequence[bytes], context: str, language: str) -> str | None:
        self.asked.append((len(images), context))
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await asyncio.sleep(0.01)
        self.at_once -= 1
        assert all(image[:2] == b"\xff\xd8" for image in images)
        return None if self.silent else f"A test picture, clip {len(self.asked)}."


async def test_each_clip_gets_a_caption_of_its_frames_after_its_transcript(film: Film) -> None:
    path = film(seconds=70)
    path.with_suffix(".vtt").write_text("WEBVTT\n\n00:31.000 --> 00:33.000\nBernoulli numbers.\n")
    eye = Eye()
    assert (await index([path.parent], models=Models(eye.captioner))).failed == []
    clips = [i for i in await items() if i.corpus == "clip"]
    assert len(eye.asked) == len(clips) == 3
    assert eye.most > 1
    assert [count for count, _ in eye.asked] == [5, 5, 5]
    assert "Said: Bernoulli numbers." in eye.asked[1][1] and "Recording: film" in eye.asked[0][1]
    assert clips[1].text.startswith("Bernoulli numbers.\n\nA test picture")


@pytest.mark.parametrize("how", ["down", "silent"])
async def test_a_model_that_fails_costs_its_captions_and_the_next_run_asks_again(
    film: Film, how: str
) -> None:
    path = film(seconds=8, sound="")
    eye = Eye()
    setattr(eye, how, True)
    report = await index([path.parent], models=Models(eye.captioner))
    assert (report.indexed, report.failed) == (1, [])
    [source] = await (await open_library()).sources()
    assert source.status == "partial" and "1 of 1 clips have no caption" in source.warnings[0]
    assert ("is down" in source.warnings[0]) is (how == "down")
    setattr(eye, how, False)
    assert (await index([path.parent], models=Models(eye.captioner))).indexed == 1
    [source] = await (await open_library()).sources()
    assert (source.status, (await items())[0].text) == ("ok", f"A test picture, clip {len(eye.asked)}.")
    assert (await index([path.parent], models=Models(eye.captioner))).indexed == 0


async def test_captions_that_came_before_a_kill_are_in_the_library_after_the_next_run(
    film: Film, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = film(seconds=8, sound="")
    eye = Eye()
    eye.down = True
    await index([path.parent], models=Models(eye.captioner))
    eye.down = False

    def killed(connection: object) -> None:
        raise KeyError

    with monkeypatch.context() as dying:
        dying.setattr("ragweave.corpora.store.commit.bump", killed)
        with pytest.raises(KeyError):
            await index([path.parent], models=Models(eye.captioner))
    assert (await index([path.parent], models=Models(eye.captioner))).indexed == 1
    assert (await items())[0].text == "A test picture, clip 1." and len(eye.asked) == 1
    assert (await index([path.parent], models=Models(eye.captioner))).unchanged == 1


async def test_two_copies_are_captioned_once_and_what_a_model_wrote_is_kept_for_it(film: Film) -> None:
    path = film(seconds=8, sound="")
    shutil.copy(path, path.with_name("second.mp4"))
    first, second = Eye("one"), Eye("two")
    for eye, unchanged in ((first, 0), (second, 0), (first, 0), (first, 1)):
        report = await index([path.parent], models=Models(eye.captioner))
        assert (report.indexed, report.failed) == (1 - unchanged, [])
    [source] = await (await open_library()).sources()
    assert len(source.paths) == 2 and source.status == "ok"
    assert (len(first.asked), len(second.asked)) == (1, 1)
