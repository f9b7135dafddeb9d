"""A question that names two media is answered from both, and what one of them is to say is looked for there."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.app.api import aask
from ragweave.minds.context import Context
from ragweave.minds.small.answer.media import named, plain
from ragweave.tests.support.library import build_library

TALK = (
    "Welcome to the ferry hour, my guest is Ines Moor. The fare of the night ferry rises to nine euros. "
    "The dog stays on deck."
)
FILES = {
    "ferry_hour.vtt": f"WEBVTT\n\n00:10.000 --> 00:25.000\n{TALK}\n",
    "mail_pier.txt": "From: pier@quay.example\nSubject: Fares\n\nThe fare of the night ferry rises to eight euros.\n",
    "diary.md": "# Diary\n\nThe fare of the night ferry was seven euros.\n\n## Lamp\n\nTom Reed gave the lamp.\n",
    "crew.md": "# Crew\n\nTom Reed has the post of the cook. Ada Lund has the post of the engineer.\n",
}


@pytest.fixture
async def quay(tmp_path: Path, home: Path) -> None:
    await build_library(tmp_path / "quay", FILES)


async def asked(question: str) -> tuple[str, set[str]]:
    answer = await aask(question, context=Context(mind="small"))
    assert not answer.abstained
    return answer.text, {Path(c.locator["file"]).stem for c in answer.citations}


async def test_what_a_mail_is_to_say_is_not_answered_from_other_texts(quay: None) -> None:
    text, files = await asked("To what does the fare of the night ferry rise according to the mail?")
    assert "eight euros" in text and files == {"mail_pier"}


async def test_what_the_guest_says_is_told_from_the_recording(quay: None) -> None:
    text, files = await asked("What does the guest say about the fare of the night ferry?")
    assert "nine euros" in text and files == {"ferry_hour"}


async def test_both_media_that_a_question_names_are_cited(quay: None) -> None:
    text, files = await asked("How much is the fare of the night ferry in the mail, and what does the guest say?")
    assert "eight euros" in text and "nine euros" in text and files == {"ferry_hour", "mail_pier"}


async def test_where_a_description_was_resolved_is_cited_beside_the_answer(quay: None) -> None:
    text, files = await asked("Which post has the person who gave the lamp?")
    assert "cook" in text and "Tom Reed gave" in text and files == {"crew", "diary"}


def test_media_are_told_by_their_names_and_a_bare_what_does_it_say_asks_nothing_more() -> None:
    assert named("Does the slide match the receipt?") == ["slide", "paper"] and named("Who found the comet?") == []
    assert plain("what does the slide say?") == "" and "frogs" in plain("How many frogs are on the slide?")
