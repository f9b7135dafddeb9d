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


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("which pupils havnt paid", "which pupils haven't paid"),
        ("who hasnt paid and who didnt come?", "who hasn't paid and who didn't come?"),
        ("Which arent vegan", "Which aren't vegan"),
        ("what cant go in, what wont fit", "what can't go in, what won't fit"),
        ("where is the tent, and the dent in it?", "where is the tent, and the dent in it?"),
        ("where is the cantor's want of rent?", "where is the cantor's want of rent?"),
    ],
)
async def test_a_denial_without_its_apostrophe_is_heard(typed, meant):
    assert await spelt(Held(), typed) == meant
