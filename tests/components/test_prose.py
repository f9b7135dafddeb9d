from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragweave.components.best_sentence import best_sentence
from ragweave.components.prose import as_shown, complete_sentences, counts, frames, marks, plain, sign, split
from ragweave.models.text import sentences

GERMAN = "Seit dem 1. September kostet es 25 Pfund [1]. Er kam am 3. Das war spät. Am 4. Mai war er da."
TEXT = "Dr. Rao paid 3.5 million.[1] It opened in 1999 [2][3]. 它在北京。[4] Is it true? [1, 2]\nYes"


async def _stream(parts: list[str]) -> AsyncIterator[str]:
    for part in parts:
        yield part


def test_the_number_of_a_caption_ends_no_sentence() -> None:
    text = "It is called “Figure 1. The hive” [1]. See Figure 2. It has a roof."
    assert split(text) == ["It is called “Figure 1. The hive” [1].", "See Figure 2.", "It has a roof."]


def test_no_sentence_ends_within_code() -> None:
    assert split("Run `pip install . && ls *.? b`. Then rest.") == [
        "Run `pip install . && ls *.? b`.",
        "Then rest.",
    ]


def test_marks_stay_with_the_sentence_before_them() -> None:
    assert split(TEXT) == [
        "Dr. Rao paid 3.5 million.[1]",
        "It opened in 1999 [2][3].",
        "它在北京。[4]",
        "Is it true? [1, 2]",
        "\nYes",
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
async def test_sentences_do_not_depend_on_how_the_stream_is_cut(size: int) -> None:
    parts = [TEXT[i : i + size] for i in range(0, len(TEXT), size)]
    assert [s async for s in complete_sentences(_stream(parts))] == split(TEXT)


_PIECES = (
    "```",
    "``",
    "`",
    "py",
    "\n",
    "\n\n",
    "a",
    "B. ",
    "$$",
    "$",
    "\\[",
    "\\]",
    "|",
    "- ",
    "x = [1]",
    "[1]",
    "! ",
    "**",
)


@given(st.lists(st.lists(st.sampled_from(_PIECES), max_size=8).map("".join), max_size=6))
@example(["$$$$- py**", "x = [1]B. .$1. ", "$$- x = [1]! \\[", "# \\["])
async def test_no_cut_of_a_stream_changes_what_of_it_is_code_or_a_formula(parts: list[str]) -> None:
    assert [s async for s in complete_sentences(_stream(parts))] == split("".join(parts))


@given(st.lists(st.text(alphabet="abAB.。!? \n[]123", max_size=160), max_size=8))
@example(["The lamp was lit in 1874." + " " * 130, "The ferry sails at noon. It is blue."])
@example(["The lamp was lit in 1874.\n" + " " * 130, "The ferry sails at noon. It is blue."])
@example(["The lamp was lit in 1874." + " " * 130 + "[1", "] The ferry sails at noon. It is blue."])
async def test_no_cut_of_a_stream_changes_its_sentences(parts: list[str]) -> None:
    assert [s async for s in complete_sentences(_stream(parts))] == split("".join(parts))


@given(st.text(alphabet="ab.。!? \n[]123", max_size=60))
def test_splitting_loses_nothing_but_white_space(text: str) -> None:
    assert "".join("".join(split(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("sentence", "numbers", "text"),
    [
        ("It is red [1].", [1], "It is red."),
        ("It is red [2, 3][2]", [2, 3], "It is red"),
        ("- **Red** it is. [1]", [1], "Red it is."),
        ("See ![x](http://evil.example/a.png) and [here](http://evil.example).", [], "See x and here."),
        ("Go to https://evil.example/?q=secret now.", [], "Go to … now."),
        ("Set `HOST=https://evil.example` [1].", [1], "Set `HOST=…`."),
        (
            "Set `HOST=https://pell.example/v1` or http://pell.example. [1]",
            [1],
            "Set `HOST=https://pell.example/v1` or ….",
        ),
        ("Print `argv[1]` or `**kwargs` **now**.", [], "Print `argv[1]` or `**kwargs` now."),
        ("In [1999] it rained.", [], "In [1999] it rained."),
        ("1. First point.", [], "First point."),
        ("1.5 metres.", [], "1.5 metres."),
    ],
)
def test_marks_are_read_and_the_text_is_shown_plain(sentence: str, numbers: list[int], text: str) -> None:
    assert marks(sentence) == numbers
    assert plain(sentence, "It listens at https://pell.example/v1.") == text


@pytest.mark.parametrize(
    ("address", "stays"),
    [
        ("http://localhost:11434/v1", True),
        ("http://localhost:11434/v1?q=secret", False),
        ("http://localhost", False),
        ("http://evil.example/take", False),
    ],
)
def test_an_address_stays_where_the_evidence_has_it_as_a_whole(address: str, stays: bool) -> None:
    evidence = "RAGWEAVE_CHAT_URL=http://localhost:11434/v1\nIt may have to load the model."
    said = plain(f"Set RAGWEAVE_CHAT_URL={address}; then load the model [1].", evidence)
    assert said == f"Set RAGWEAVE_CHAT_URL={address if stays else '…'}; then load the model."


@pytest.mark.parametrize(
    ("text", "units"),
    [
        (
            "It takes:\n\n1. cars\n2) dogs. They pay [1].\nDone.",
            ["It takes:", "1.cars", "2.dogs. They pay.", "\nDone."],
        ),
        ("* **Gulls**: 12 [1].\n  - in burrows\n", ["-Gulls: 12.", "-in burrows"]),
        ("| Year | Nests |\n|---|:--|\n| 2013 | 1,870 [1] |", ["|Year | Nests", "|2013 | 1,870"]),
        ("```python\nx = [1]\n\n  # y. Z\n``` [2]\nSo.", ["```pythonx = [1]\n\n  # y. Z", "\nSo."]),
        ("So\n$$\na = 1.\nb\n$$ [1]\nit is.", ["So", "\n$$ a = 1. b $$", "\nit is."]),
        (
            "He was 12. Then he left.\n-5 degrees. It is 2.5 m.",
            ["He was 12.", "Then he left.", "\n-5 degrees.", "It is 2.5 m."],
        ),
    ],
)
async def test_an_item_of_a_list_and_a_row_of_a_table_are_told_whole(text: str, units: list[str]) -> None:
    streamed = [raw async for raw in complete_sentences(_stream([*text]))]
    for raw in (split(text), streamed):
        assert [sign(r) + as_shown(r) for r in raw if as_shown(r)] == units


def test_code_is_cited_behind_its_end_and_keeps_its_indentation() -> None:
    (code,) = split("```py\nif plan[1]:\n    go()\n``` [2]")
    assert (marks(code), as_shown(code), counts(code)) == ([2], "if plan[1]:\n    go()", False)


@pytest.mark.parametrize(
    ("line", "before", "only"),
    [
        ("Dear Jonas,", None, True),
        ("Here is what was paid in 2025:", None, True),
        ("| Plot | 2025 |", "\n", True),
        ("| 3 | 74 |", "|", False),
        ("\n## Costs", "", True),
        ("\n**Costs**", "", True),
        ("**Ada Lund**", None, False),
        ("\nKind regards", "", True),
        ("\nPriya Nair", "\n", True),
        ("Priya Nair", None, False),
        ("\nThe rent is paid.", "", False),
        ("\nBox 14", "", False),
        ("- Ada Lund", "-", False),
        ("Dear Jonas, [1]", None, False),
    ],
)
def test_a_line_that_only_frames_an_answer_is_told_from_one_that_says_something(
    line: str, before: str | None, only: bool
) -> None:
    assert frames(line, before) is only


@pytest.mark.parametrize("size", [1, 3, 1000])
async def test_a_day_in_german_is_not_cut_behind_its_number(size: int) -> None:
    found = [
        s
        async for s in complete_sentences(
            _stream([GERMAN[i : i + size] for i in range(0, len(GERMAN), size)])
        )
    ]
    assert found == [
        "Seit dem 1. September kostet es 25 Pfund [1].",
        "Er kam am 3.",
        "Das war spät.",
        "Am 4. Mai war er da.",
    ]


@pytest.mark.parametrize("unit", ["No. 1041, ", "e.g. ", "i.e. the "])
async def test_a_reply_that_never_ends_a_sentence_is_judged_in_pieces_and_once(
    unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[int] = []

    def counted(text: str) -> list[tuple[int, int]]:
        judged.append(len(text))
        return sentences(text)

    monkeypatch.setattr("ragweave.components.sentence_ends.sentences", counted)
    text = "The lamps are " + unit * 300

    parts = [text[at : at + 10] for at in range(0, len(text), 10)]
    assert [s async for s in complete_sentences(_stream(parts))] == [text.strip()]
    assert max(judged) < 600 and len(judged) < 60 * len(text) / 10


PLOTS = "plot | tenant | fee\n3 | Adeyemi | 74\n12 | Castellanos | 0\n17 | Adeyemi | 74\n21 | Dvorak | 37"


@pytest.mark.parametrize(
    ("sentence", "quoted"),
    [
        ("Plot 21, tenant Dvorak, paid a fee of 37 EUR.", PLOTS.split("\n")[4:]),
        ("21 | Dvorak | 37", PLOTS.split("\n")[4:]),
        ("The tenant of 17 is Adeyemi.", PLOTS.split("\n")[3:4]),
        ("Adeyemi and Dvorak are tenants.", PLOTS.split("\n")),
        ("The fee was 185 EUR in all, with the plots of each tenant.", PLOTS.split("\n")),
        ("It is due by May.", ["Due by May."]),
    ],
)
def test_a_table_is_quoted_by_the_matching_row_or_by_all_rows_that_match_equally(
    sentence: str, quoted: list[str]
) -> None:
    assert best_sentence(sentence, f"Due by May.\n\n{PLOTS}") == "\n".join(quoted)


def test_a_mail_is_quoted_by_its_matching_line_and_not_by_its_head() -> None:
    head = (
        "From: Jonas Vik <jonas@vik-holz.example>\nTo: Priya Nair <priya@tern.example>\nSubject: Offer shed"
        " roof"
    )
    mail = f"{head}\n\nFor the roof:\n- larch boards: 1,140 EUR\n- work: 960 EUR\n\nAll without VAT (25 %)."
    assert best_sentence("Jonas Vik offers it: 2,100 EUR without VAT.", mail) == "All without VAT (25 %)."
    assert (
        best_sentence("Jonas Vik offers the larch boards for 1,140 EUR.", mail) == "- larch boards: 1,140 EUR"
    )


@pytest.mark.parametrize(
    "sentence", ["The gross margin was 74.0 % in the third quarter.", "Die Marge stieg 2024 auf 74,0 %."]
)
def test_a_sentence_with_the_figure_wins_over_one_with_more_shared_words(sentence: str) -> None:
    effect = "The net effect on our gross margin was 2.4% and 2.6% in the third quarter of 2024."
    fact = "Our margins were 74.0%."
    assert best_sentence(sentence, f"{effect} {fact}") == fact
