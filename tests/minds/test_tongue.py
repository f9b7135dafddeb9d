from pathlib import Path

import pytest

from ragweave.app.api import astate
from ragweave.minds.context import Context
from ragweave.minds.phrases import language_of
from ragweave.tests.support import build_library

CHOIR = """# Chorreise nach Feldau

Der Chor wird in Feldau bei Regen im Keller der Schule empfangen. Die Reise ist im Mai und das Konzert ist am Abend.
"""
BEES = """# Bees

The bees of the school are looked after by Ada Brook. There are six hives and one of them is empty.
"""
NOTES = {"chor.md": CHOIR, "bees.md": BEES}


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("When do they begin?", "en"),
        ("Wie viele Schlüssel bekommt Anton?", "de"),
        ("Um wie viel Uhr beginnt das Konzert?", "de"),
        ("Qui est le nouveau chef ?", "fr"),
        ("小明几岁?", "zh"),
        ("tannery clock kg", ""),
    ],
)
def test_the_language_of_a_question_is_told_by_its_small_words(question, code):
    assert language_of(question) == code


async def test_a_refusal_says_that_the_file_with_the_name_is_in_another_language(tmp_path: Path, home: Path) -> None:
    await build_library(tmp_path / "notes", NOTES)
    asked = "Where does the committee welcome the singers of Feldau when it pours?"
    answer = (await astate(asked, context=Context(mind="small")))["answer"]
    assert "is in German" in (answer.why if answer.abstained else " ".join(answer.notes))


async def test_in_one_language_nothing_is_said_of_languages(tmp_path: Path, home: Path) -> None:
    await build_library(tmp_path / "notes", NOTES)
    answer = (await astate("Who looks after the bees of the school?", context=Context(mind="small")))["answer"]
    assert "Ada Brook" in answer.text and "is in" not in answer.why + " ".join(answer.notes)
