"""Whatever form a model cites in, its marks are read, and what only looks like one stays in the text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragweave.components.citations import with_marks
from ragweave.components.prose import as_shown, complete_sentences, marked, marks, split

SAID = "The lamp was first lit on 3 October 1874"
FORMS = {
    "[1]": [1],
    "[1][2]": [1, 2],
    "[1, 2]": [1, 2],
    "【1】": [1],
    "【1†source】": [1],
    "【4:0†a.md】": [4],
    "[1†L3-L7]": [1],
    "[^1]": [1],
    "[^1][^2]": [1, 2],
    "[^1^]": [1],
    "^[1]": [1],
    "^1^": [1],
    "$^{1}$": [1],
    "[[1]]": [1],
    "\\[1\\]": [1],
    "([1])": [1],
    "(see [1], [2])": [1, 2],
    "(1)": [1],
    "(1, 2)": [1, 2],
    "（1）": [1],
    "{1}": [1],
    "¹": [1],
    "¹,²": [1, 2],
    "［1］": [1],
    "〔1〕": [1],
    "[1-3]": [1, 2, 3],
    "[1–2]": [1, 2],
    "[1 to 3]": [1, 2, 3],
    "[1 and 3]": [1, 3],
    "[1 und 3]": [1, 3],
    "[Document 1]": [1],
    "[doc1]": [1],
    "[source_1]": [1],
    "(Document 1)": [1],
    "{source 1}": [1],
    "(documents 1 and 2)": [1, 2],
    "[Source: 1]": [1],
    "[citation:1]": [1],
    "[ref. 1]": [1],
    "[#1]": [1],
    "[Quelle 1]": [1],
    "[источник 1]": [1],
    "【文档1】": [1],
    "[Document 1, Document 3]": [1, 3],
    "[Document 1: The light]": [1],
    "[1, p. 3]": [1],
    "[1](http://a.example/x)": [1],
    "[[1]](#one)": [1],
    "<sup>1</sup>": [1],
    "<sup>[1]</sup>": [1],
    "<cite>1</cite>": [1],
    "<ref>1</ref>": [1],
    '<cite doc="1"/>': [1],
    "</co: 1,2>": [1, 2],
    '<a href="#1">[1]</a>': [1],
    "\\cite{1}": [1],
}
TEXTS = [
    "It has 5 m² of it.",
    "E = mc² holds.",
    "About 10<sup>6</sup> m<sup>2</sup> here.",
    "Built in (1961).",
    "It was [1961] then.",
    "Either (1) walk or (2) swim [1].",
    "See [Figure 1] and [sic].",
    "An array a[0] is.",
    "(2 people) came.",
    "The set {1, 2} is small.",
    "x^{2} + y^{3}",
    "It (3) is [2].",
    "Room (12).",
    "See [the page](http://a.example/1).",
    "Article 5(2) says so.",
]


async def pieces(text: str, width: int) -> list[str]:
    async def parts():  # type: ignore[no-untyped-def]
        for i in range(0, len(text), width):
            yield text[i : i + width]

    return [s async for s in complete_sentences(parts())]


@pytest.mark.parametrize(("form", "numbers"), FORMS.items(), ids=FORMS)
@pytest.mark.parametrize("before_the_stop", [True, False])
def test_a_mark_of_any_form_is_a_citation_and_leaves_the_text(
    form: str, numbers: list[int], before_the_stop: bool
) -> None:
    sentence = marked(f"{SAID} {form}." if before_the_stop else f"{SAID}. {form}", 5)
    assert marks(sentence) == numbers
    assert as_shown(sentence) == f"{SAID}."


@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("(1)", "(1, 2)", "（1）", "{1}")])
@pytest.mark.parametrize("width", [1, 4, 1_000])
async def test_a_mark_behind_a_sentence_stays_with_it_while_it_arrives(form: str, width: int) -> None:
    found = await pieces(f"{SAID}. {form} It is still lit [5].", width)
    assert [marks(marked(s, 5))[-1:] for s in found] == [FORMS[form][-1:], [5]]


@pytest.mark.parametrize("text", TEXTS)
def test_numbers_that_name_no_document_stay(text: str) -> None:
    assert with_marks(text, 5) == text


def test_a_number_beyond_the_documents_shown_is_a_mark_only_where_nothing_else_stands_in_such_brackets() -> (
    None
):
    assert with_marks("It is lit (7).", 5) == "It is lit (7)."
    assert with_marks("It is lit 【7†source】.", 5) == "It is lit [7]."


@pytest.mark.parametrize("text", ["[²]", "It was lit [²].", "(doc ³)", "[1²]"])
def test_a_raised_number_in_brackets_raises_no_error(text: str) -> None:
    assert isinstance(marked(text), str)


def test_code_cites_nothing() -> None:
    assert marked("Call `f(x)[^1]` here (1).", 5) == "Call `f(x)[^1]` here [1]."


@given(
    st.lists(
        st.sampled_from([*FORMS, "It is. ", "He ", "left", ". ", " ", "\n", "(so)", "<b>", "5 m²"]),
        max_size=8,
    ),
    st.integers(1, 6),
)
@example(["It is. ", "^[1]", "^[1]"], 1)
@example(["It is. ", "$^{1}$", "$^{1}$"], 1)
async def test_how_a_text_is_cut_into_parts_changes_no_sentence(words: list[str], width: int) -> None:
    text = "".join(words)
    assert await pieces(text, width) == split(text)
