from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from itertools import pairwise

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from ragweave.models import tables
from ragweave.models.dates import day, days, names_day
from ragweave.models.text import clip, content_terms, names, numbers, sentences, stem, terms, words
from ragweave.models.values import units_named, values


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


@given(st.dates(min_value=date(1900, 1, 1), max_value=date(2099, 12, 31)))
def test_a_day_is_read_back_from_figures_and_words(when: date) -> None:
    forms = ["%Y-%m-%d", "%d.%m.%Y", "%d %B %Y", "%B %d, %Y", "%d %b %Y", "%Y年%m月%d日"]
    assert {day(when.strftime(form)) for form in forms} == {when}


def test_a_year_alone_and_a_day_that_is_none_are_no_dates() -> None:
    assert day("2024") is None
    assert day("31.02.2024") is None
    assert day("Juni 2025") == date(2025, 6, 1)
    assert names_day("1 march 2024") and names_day("2024-03-01") and not names_day("march 2024")


_WRITTEN = st.sampled_from(
    ["3 March 1875", "1999-12-31T10:11:12.5+01:00", "31. 12. 2001", "2012年3月4日", "Sept. 12, 1888"]
)


@given(st.lists(st.tuples(st.integers(0, 200), _WRITTEN), max_size=4), st.integers(0, 200))
def test_every_date_of_a_line_is_found_in_its_place_however_long_the_line(
    parts: list[tuple[int, str]], after: int
) -> None:
    line = "".join("so " * n + f"on {said} it " for n, said in parts) + "so " * after
    found = days(line)
    assert [when for _, _, when in found] == [days(said)[0][2] for _, said in parts]
    assert [day(line[a:b]) for a, b, _ in found] == [when for _, _, when in found]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It weighs 1,940 kg.", "1940 kilograms"),
        ("Es wiegt 1.940 kg.", "1940 kg"),
        ("1 940 feathers", "1940"),
        ("three towers", "3 towers"),
        ("einundzwanzig", "21"),
        ("twenty-one", "21"),
        ("3 May 1915", "1915-05-03"),
        ("03.05.1915", "May 3, 1915"),
        ("at 2:30 pm", "at 14:30"),
        ("3 million", "3,000,000"),
        ("1,5 t", "1.5 tonnes"),
        ("90 kr.", "90 kroner"),
        ("$5", "5 dollars"),
        ("12 %", "12 percent"),
        ("在5月", "in May"),
        ("on a Monday", "on 2026-11-23"),
    ],
)
def test_a_value_is_the_same_however_it_is_written(one: str, other: str) -> None:
    held = values(other)
    for value in values(one):
        if value.sure:
            assert any(value.same(h) and value.unit == h.unit for h in held), value


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("25 m", "25 cm"),
        ("2:30 am", "2:30 pm"),
        ("1.94", "1940"),
        ("-5 degrees", "5 degrees"),
        ("in March 1915", "in May 1915"),
        ("on a Tuesday", "on a Monday"),
    ],
)
def test_another_value_is_not_the_same(one: str, other: str) -> None:
    held = values(other)
    assert not all(any(v.same(h) and v.unit == h.unit for h in held) for v in values(one))


@pytest.mark.parametrize("text", ["GPT-4 is a model.", "K2 is high.", "It may rain.", "once", "the only one"])
def test_what_only_looks_like_a_value_is_not_required(text: str) -> None:
    assert [v.text for v in values(text) if v.sure] == []


def test_a_unit_may_be_apart_from_its_numbers() -> None:
    (metre,) = [v.unit for v in values("25 m")]
    assert metre in units_named("Item | Length (m)\nHose | 25")


@given(st.integers(1_000, 999_999_999))
def test_separators_of_thousands_change_nothing(number: int) -> None:
    written = [f"{number:,}", f"{number:,}".replace(",", " "), f"{number:,}".replace(",", "."), str(number)]
    assert all(any(str(number) in v.readings for v in values(text)) for text in written)


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    assert all(v.readings for v in values(text))


def test_a_number_that_opens_a_line_counts_though_the_line_above_ends_in_a_letter():
    held = values("grade | pages\n2026 | Moss on weirs")
    assert "2026" in {value.text for value in held}


BOATS = """The boats of the island. They are old.
boat | built | crew
Marten | 1961 | 4. One sleeps ashore.
Petrel | 1988 | 6
After the table.
"""
RULES = """what happens | what a library does
the disk is full | the run ends. Nothing is lost.
a file goes | it is forgotten"""
LISTING = "\n".join(
    ["make demo", "RAGWEAVE_HOME=/srv/notes ragweave index " + "a" * 60]
    + [f"step {n} = done" for n in range(30)]
)


def parts(text: str) -> list[str]:
    return [text[a:b] for a, b in tables.spans(text)]


def told(text: str) -> list[str]:
    return [tables.as_sentence(text, a, b) for a, b in tables.spans(text) if not tables.is_heads(text, a, b)]


def test_a_row_is_one_part_whatever_stops_stand_in_it_and_prose_is_cut_into_sentences() -> None:
    assert parts(BOATS) == [
        "The boats of the island.",
        "They are old.",
        "boat | built | crew",
        "Marten | 1961 | 4. One sleeps ashore.",
        "Petrel | 1988 | 6",
        "After the table.",
    ]


def test_a_row_is_told_with_the_heads_of_its_columns_or_as_what_its_first_cell_names() -> None:
    assert told(BOATS)[2:4] == [
        "Marten: built 1961, crew 4. One sleeps ashore.",
        "Petrel: built 1988, crew 6",
    ]
    assert told(RULES) == ["the disk is full: the run ends. Nothing is lost.", "a file goes: it is forgotten"]
    assert told("Oslo | 1 | 2\nBergen | 3 | 4") == ["Oslo: 1, 2", "Bergen: 3, 4"]
    quarters = "| Three Months Ended July 1, 2023 | 2022\nNet income | $170 | $193\nTotal | 180 | 201"
    assert told(quarters)[0] == "Net income: Three Months Ended July 1, 2023 $170, 2022 $193"
    assert told("| 1,200 | 1,300\nTotal | 1 | 2") == ["1,200, 1,300", "Total: 1, 2"]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("| 1 | 2", "1, 2"),
        ("a | | c", "a: c"),
        ("a |", "a"),
        ("- a point", "a point"),
        ("3) a point", "a point"),
    ],
)
def test_empty_cells_and_the_marks_of_lists_are_left_out(row: str, said: str) -> None:
    assert tables.as_sentence(row, 0, len(row)) == said


def test_a_long_listing_is_parted_by_its_lines_and_wrapped_prose_is_not() -> None:
    assert "make demo" in parts(LISTING)
    prose = "\n".join(["word " * 15 + "end"] * 8)
    assert len(parts(prose)) == 1


@given(st.text(alphabet="ab1 .|\n-", max_size=120))
def test_parts_stand_in_order_and_hold_every_character_that_is_not_white(text: str) -> None:
    found = tables.spans(text)
    assert all(a < b for a, b in found)
    assert all(b <= c for (_, b), (c, _) in pairwise(found))
    assert "".join("".join(text[a:b].split()) for a, b in found) == "".join(text.split())
    assert all(isinstance(tables.as_sentence(text, a, b), str) for a, b in found)


DATED = [
    f"{day}  serviced by Kowalski Heating, in a cellar" for day in ("12.01.2024", "3.11.2024", "1/12/24")
]
WRAPPED = (
    "Feed the starter the evening before with rye and\nwater, and let it stand in a warm place\nall night."
)
PRICES = ["Merch prices", "T-shirt €20", "Hoodie €45", "LP “Wet Matches” €22"]
CONTACTS = [
    "Amara Quist, cello: 0331 9021",
    "Dr. Ilka Brandt, vet: 0331 5577",
    "Orla Finch, first floor, has our spare key",
]


@pytest.mark.parametrize(
    ("lines", "prose"),
    [
        (PRICES, "The coat costs 120\nand it is made of\nwool from a farm"),
        (
            DATED,
            (
                "It was serviced first on\n12.01.2024 by Kowalski and\nonce more in the spring of\nthat other"
                " year"
            ),
        ),
        (CONTACTS, WRAPPED),
    ],
    ids=["amounts", "days", "lines that end early"],
)
def test_a_listing_is_parted_by_its_lines_and_a_paragraph_is_not(lines: list[str], prose: str) -> None:
    assert parts("\n".join(lines)) == lines
    assert parts(prose) == [prose]


@pytest.mark.parametrize("text", ["127.0.0.1", "version 1.2.3", "-10.0.0.1", "9" * 400, "1/2", "14:30"])
def test_what_is_no_finite_number_has_no_amount(text: str) -> None:
    first = values(text)[0]
    assert first.amounts() == []


@given(st.text() | st.text("0123456789.,:/-' ap%€"))
def test_amounts_never_raise_and_are_finite(text: str) -> None:
    for value in values(text):
        assert all(map(math.isfinite, value.amounts()))
