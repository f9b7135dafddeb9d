from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from ragweave.models.text import clip, content_terms, names, numbers, sentences, stem, terms, words


@pytest.mark.parametrize(
    ("read", "text", "found"),
    [
        (words, "RRF's k=60", ["rrf", "s", "k", "60"]),
        (words, "知识图谱 U.S.", ["知识", "识图", "图谱", "u", "s"]),
        (words, "1,234.5 metres", ["1234.5", "metres"]),
        (words, "Café-Straße 人", ["cafe", "strasse", "人"]),
        (words, "\x00 _ -- ..", []),
        (
            names,
            "The Panthers beat Jared Allen's team in New York City.",
            ["Panthers", "Jared Allen", "New York City"],
        ),
        (names, "J. R. R. Tolkien wrote “The Hobbit”.", ["The Hobbit", "J. R. R. Tolkien"]),
        (names, "He played in Super Bowl 50. Then he left.", ["Super Bowl 50"]),
        (names, "《红楼梦》的作者是谁", ["红楼梦"]),
        (names, "Until 1996 it closed on 15 April and in May 2004 for Easter Monday.", ["Easter Monday"]),
        (names, "Beside it stands a pool. All Saints Choir sings there.", ["All Saints Choir"]),
        (
            words,
            "Chronicles™ of Acme®: sales² and SalesⓇ",
            ["chronicles", "of", "acme", "sales", "and", "sales"],
        ),
        (words, "42 m² of 10⁻³, 1,234¹ in step ②", ["42", "m2", "of", "10", "3", "1234", "in", "step", "2"]),
        (numbers, "In 1,200 and 24th", ["1200", "24"]),
        (numbers, "twelve of 3.5%", ["3.5%", "12"]),
        (numbers, "the one", []),
        (numbers, "12:30 on 3/4", ["12:30", "3/4"]),
    ],
)
def test_words_names_and_numbers_are_found(
    read: Callable[[str], Iterable[str]], text: str, found: list[str]
) -> None:
    assert [*read(text)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Dr. Ames left the U.S. in 1999. He won.", ["Dr. Ames left the U.S. in 1999.", "He won."]),
        ("今天好。明天呢？", ["今天好。", "明天呢？"]),
        ("One.\n\nTwo", ["One.", "Two"]),
        ("List:\n- a\n- b", ["List:", "- a", "- b"]),
        ("It is 3.5 m. Really!", ["It is 3.5 m.", "Really!"]),
        ("  ", []),
        (
            "Am 14. Juni 2025 geht es. Im 3. und vierten Kapitel.",
            ["Am 14. Juni 2025 geht es.", "Im 3. und vierten Kapitel."],
        ),
        ("It costs 14. The end.", ["It costs 14.", "The end."]),
        (
            "It asks “Why?” and stops. “Stop!” Then it ends.",
            ["It asks “Why?” and stops.", "“Stop!”", "Then it ends."],
        ),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, found: list[str]) -> None:
    assert [text[a:b] for a, b in sentences(text)] == found


@given(st.text(max_size=200))
def test_sentences_cover_everything_but_white_space_in_order(text: str) -> None:
    spans = sentences(text)
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
    assert all(a < b for a, b in spans)
    assert all(one[1] <= two[0] for one, two in itertools.pairwise(spans))


def test_stems_join_forms_and_leave_other_scripts_alone() -> None:
    assert stem("telescopes") == stem("telescope")
    assert stem("wrote") == stem("written") == stem("writing")
    assert terms("知识") == ["知识"]
    assert content_terms("What is the height of the tower?") == ["height", "tower"]
    assert content_terms("Why shouldn't I, and why hasn't the haven opened?") == ["haven", "open"]


@given(st.text(max_size=100), st.integers(5, 50))
def test_clip_keeps_the_limit_and_the_beginning(text: str, limit: int) -> None:
    cut = clip(text, limit)
    assert len(cut) <= limit
    assert text.startswith(cut.rstrip("…").rstrip()[:1])


def test_threads_that_stem_at_once_do_not_mix_their_words() -> None:
    stems = [f"{a}{b}{c}ational" for a in "bcdfglmnprst" for b in "aeiou" for c in "bdgmnprt"]
    expected = dict(zip(stems, Stemmer.Stemmer("english").stemWords(stems), strict=True))
    pace, wrong = sys.getswitchinterval(), []
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            for _ in range(5):
                stem.cache_clear()
                wrong += [w for w, s in zip(stems, pool.map(stem, stems), strict=True) if s != expected[w]]
    finally:
        sys.setswitchinterval(pace)
    assert wrong == []
