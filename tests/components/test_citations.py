"""Whatever form a model cites in, its marks are read, and what only looks like one stays in the text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragweave.components.citations import with_marks
from ragweave.components.evidence import Strip
from ragweave.components.labels import unlabelled
from ragweave.components.prose import as_shown, complete_sentences, marked, marks, split
from ragweave.components.references import exact, lies_in
from ragweave.components.turn import Answering, begins_turn, read_turn
from ragweave.corpora.types import Item, Locator, Span

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


@pytest.mark.parametrize(
    "text",
    ["[²]", "It was lit [²].", "(doc ³)", "[1²]", "①" * 9_000, f"It is lit [{'1' * 90}].", "[1](" * 2_000],
)
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


TEXT = "The comet came. It was bright. Nobody slept."
PLACE: Locator = {"kind": "time", "file": "/talk.mp4", "start": 60.0, "end": 90.0}


def item(*times: tuple[int, int, float, float]) -> Item:
    spans = tuple(Span(a, b, time=(start, end)) for a, b, start, end in times)
    return Item("c", "clip", "s", "Talk", TEXT, PLACE, spans=spans)


def strip(text: str = TEXT, locator: Locator = PLACE) -> Strip:
    return {
        "id": "c#0-44", "evidence": "c", "text": text, "title": "Talk", "locator": locator,
        "origin": "library", "query": "q", "hop": 1, "score": 0.5,
    }  # fmt: skip


def test_a_strip_that_begins_inside_its_clip_is_placed_by_its_own_offset() -> None:
    held = item((0, 15, 61.0, 64.0), (16, 30, 70.0, 73.0), (31, 44, 80.0, 82.0))
    inner = strip(TEXT[16:], {**PLACE, "chars": [16, 44]})
    assert exact(inner, "Nobody slept.", held)["start"] == 80.0


def test_a_row_is_cited_with_its_own_line_also_where_rows_read_alike() -> None:
    place: Locator = {"kind": "heading", "file": "/fees.csv", "line": 1}
    rows, at = ("plot | fee", "3 | 74", "8 | 74", "3 | 74"), (0, 11, 18, 25)
    spans = tuple(Span(a, a + len(row), line=n) for n, (a, row) in enumerate(zip(at, rows, strict=True), 1))
    held = Item("c", "paragraph", "s", "Fees", "\n".join(rows), place, spans=spans)
    found = [exact(strip(held.text[a:], {**place, "chars": [a, 31]}), rows[1], held) for a in (0, 18)]
    assert [(f["line"], f["chars"]) for f in found] == [(2, [11, 17]), (4, [25, 31])]


@pytest.mark.parametrize(
    ("place", "inside"),
    [
        ({"start": 60.0, "end": 90.0}, True),
        ({"start": 59.5, "end": 64.0}, True),
        ({"start": 10.0, "end": 20.0}, False),
        ({"start": 80.0, "end": 99.0}, False),
        ({"start": 80.0, "end": 70.0}, False),
        ({}, False),
        ({"start": 61.0, "end": 62.0, "file": "/other.mp4"}, False),
    ],
)
def test_a_place_lies_inside_its_evidence_or_does_not(place: Locator, inside: bool) -> None:
    assert lies_in({"file": "/talk.mp4", **place}, PLACE) is inside


LABELLED = "It was lit in 1874 [1]."
LABELS = [
    "Final Answer: ",
    "**Final Answer:** ",
    "## Final Answer\n\n",
    "### Final Answer:\n",
    "**Final Answer**\n",
    "Answer: ",
    "Endgültige Antwort: ",
    "**Antwort:** ",
    "Réponse finale : ",
    "Respuesta final: ",
    "Resposta: ",
    "Risposta finale: ",
    "Ostateczna odpowiedź: ",
    "Итоговый ответ: ",
    "Τελική απάντηση: ",
    "Son cevap: ",
    "الإجابة النهائية: ",
    "最终答案：",
    "最終回答：",
    "최종 답변: ",
    "Câu trả lời cuối cùng: ",
    "अंतिम उत्तर: ",
    "Slutgiltigt svar: ",
]


@pytest.mark.parametrize("label", LABELS)
def test_a_label_in_other_words_begins_an_answer(label: str) -> None:
    turn = read_turn(label + LABELLED)
    assert turn is not None and (turn.answer, turn.queries) == (LABELLED, [])


@pytest.mark.parametrize("label", LABELS)
async def test_such_an_answer_is_told_while_it_arrives(label: str) -> None:
    told: list[str] = []

    async def take(sentence: str, shown: object) -> None:
        told.append(sentence)

    answering, text = Answering(take, ["a"], 9), f"{label}{LABELLED} It still is [1]."
    for end in range(1, len(text) + 1):
        await answering.read(text[:end])
    assert told == [LABELLED]
    await answering.read(text, ended=True)
    assert told == [LABELLED, "It still is [1]."]


@pytest.mark.parametrize("label", ["Suchanfrage: ", "Requête : ", "Запрос: ", "検索：", "**Búsqueda:** "])
def test_a_query_in_other_words_is_asked(label: str) -> None:
    turn = read_turn(f"{label}who built it")
    assert turn is not None and turn.queries == ["who built it"]


@pytest.mark.parametrize("label", LABELS)
def test_a_label_before_prose_is_not_shown(label: str) -> None:
    assert as_shown(unlabelled(label + LABELLED)) == "It was lit in 1874."


@pytest.mark.parametrize(
    "text", ["Answers vary: some say 1874 [1].", "Lamp: 1874 [1].", "The answer is 1874 [1].", "Query: x"]
)
def test_other_words_before_a_colon_stay(text: str) -> None:
    assert unlabelled(text) == text


def test_a_known_label_comes_before_one_in_other_words() -> None:
    turn = read_turn("Answer: not found yet.\nQuery: who built it")
    assert turn is not None and turn.queries == ["who built it"]


def test_a_box_around_a_result_is_not_shown() -> None:
    assert as_shown("It holds $\\boxed{\\text{5 tons}}$ [1].") == "It holds 5 tons."


@pytest.mark.parametrize(
    ("begun", "begins"),
    [("Final Answer: It", True), ("**Antwort:** It", True), ("Learnt: a", True), ("Okay, the user", False)],
)
def test_a_reply_that_begins_with_no_label_may_begin_with_thoughts(begun: str, begins: bool) -> None:
    assert begins_turn(begun) is begins
