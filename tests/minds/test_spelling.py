import pytest

from ragweave.minds.small.question.spelling import spelt
from ragweave.models.text import terms

HELD = "button panel underground turret combine arrive"


class Held:
    """A desk with a library that holds a few words."""

    async def library(self):
        return self

    async def idf(self, asked):
        held = set(terms(HELD))
        return {t: 1.0 if t in held else 9.0 for t in asked}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("where is the red buton of the pannel", "where is the red button of the panel"),
        ("when do we go undergruond", "when do we go underground"),
        ("turet clock", "turret clock"),
        ("Who is Mr Buton?", "Who is Mr Buton?"),
        ("C'est combien la nuit ?", "C'est combien la nuit ?"),
        ("when does the plane arrive", "when does the plane arrive"),
    ],
)
async def test_a_slip_is_mended_by_a_word_of_the_library(typed, meant):
    assert await spelt(Held(), typed) == meant
