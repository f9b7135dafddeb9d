"""Which language a text is in, by its function words."""

from __future__ import annotations

import pytest

from ragweave.corpora.meta import guess_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Der Fuchs, der Dachs, der Hase", "de"),
        ("Der Roman The Road ist eine Reise", "de"),
        ("Bitte den Ausgang freihalten", "de"),
        ("The fox lives in the den", "en"),
        ("Pour the water, pour the milk, pour slowly.", ""),
    ],
)
def test_few_words_tell_a_language(text: str, language: str) -> None:
    assert guess_language(text) == language
