"""A whole recording in a model's words: asked once, kept, and told by rule where the model fails."""

from __future__ import annotations

import pytest

from ragweave.corpora.ingest.run import Models, index
from ragweave.corpora.store.library import open_library
from ragweave.corpora.types import Item
from ragweave.corpora.video.described import SHOWN, Overview, Summariser, words_of
from ragweave.corpora.video.recording import Cue, Recording
from ragweave.models.errors import ModelError
from tests.corpora.video.conftest import Film
from tests.corpora.video.test_intake import items

SAID = (
    "WEBVTT\n\n00:01.000 --> 00:08.000\nThe comet of Pell was found by Ada Ostrander with a telescope in 1889.\n\n"
    "00:35.000 --> 00:44.000\nAfterwards we look at the moon and at the crater that bears the name of its finder.\n"
)


class Pen:
    """A language model that sums up what it was shown."""

    def __init__(self, *replies: Overview | Exception | None, name: str = "pen") -> None:
        self.replies = list(replies)
        self.shown: list[str] = []
        self.models = Models(summariser=Summariser(name, self.ask))

    async def ask(self, text: str) -> Overview | None:
        self.shown.append(text)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


CHAPTERS = ((0.0, "Comet"), (35.0, "Moon"), (900.0, "None"))
COMETS = Overview("An evening of comets", "A talk about the comet of Pell.", CHAPTERS, ("Pell",))


async def whole(film: Film, pen: Pen) -> Item:
    path = film(seconds=70, sound="")
    path.with_suffix(".vtt").write_text(SAID)
    await index([path.parent], models=pen.models)
    [found] = [i for i in await items() if i.corpus == "video"]
    return found


async def test_a_model_gives_the_whole_its_summary_chapters_and_phrases_in_one_call(film: Film) -> None:
    pen = Pen(COMETS)
    found = await whole(film, pen)
    assert len(pen.shown) == 1 and "[0:00] The comet of Pell" in pen.shown[0]
    assert "An evening of comets\n\nA talk about the comet of Pell." in found.text
    assert "Key phrases: Pell." in found.text
    assert [title for _, _, title in found.meta["chapters"]] == ["Comet", "Moon"]  # type: ignore[attr-defined]
    assert found.title == "film"


async def test_what_was_written_is_kept_and_another_model_is_asked_anew(film: Film) -> None:
    pen = Pen(COMETS)
    path = film(seconds=70, sound="")
    path.with_suffix(".vtt").write_text(SAID)
    assert (await index([path.parent], models=pen.models)).indexed == 1
    assert (await index([path.parent], models=pen.models)).indexed == 0
    other = Pen(COMETS, name="quill")
    assert (await index([path.parent], models=other.models)).indexed == 1
    assert (await index([path.parent], models=pen.models)).indexed == 1
    assert (len(pen.shown), len(other.shown)) == (1, 1)


@pytest.mark.parametrize(
    ("reply", "why"), [(ModelError("the model is down", "start it"), "is down"), (None, "could not be read")]
)
async def test_a_model_that_fails_leaves_the_recordings_own_words_and_is_asked_by_the_next_run(
    film: Film, reply: Exception | None, why: str
) -> None:
    pen = Pen(reply, COMETS)
    found = await whole(film, pen)
    assert "Ada Ostrander" in found.text and "An evening" not in found.text
    [source] = await (await open_library()).sources()
    assert source.status == "partial" and why in source.warnings[0]
    await index([source.path], models=pen.models)
    assert len(pen.shown) == 2
    assert "An evening of comets" in next(i.text for i in await items() if i.corpus == "video")


def test_of_a_long_recording_every_clip_is_shown_within_the_limit() -> None:
    cues = tuple(Cue(30.0 * n, 30.0 * n + 29, f"Part {n}. " + "word " * 90) for n in range(400))
    text = words_of(Recording("long", 12_000.0, cues))
    assert len(text) <= SHOWN
    assert text.count("\n") == 399
