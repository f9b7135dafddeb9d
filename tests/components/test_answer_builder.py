from collections.abc import Sequence
from typing import Any

import pytest

from ragweave.components.answer_builder import AnswerBuilder
from ragweave.components.evidence import Citation, Sentence, Strip
from ragweave.components.prose import tell

TEXT = "Ada Quill opened the mill in 1931. Bert Osk closed it in 1950."
ROW: Any = {"id": "i", "title": "Mill", "text": TEXT, "locator": {"file": "/mill.md"}, "date": "2024-06-01"}
STRIP: Any = {"id": "i#0", "evidence": "i", "title": "Mill", "text": TEXT, "locator": {}, "origin": "library"}
OTHER: Any = {
    **STRIP,
    "id": "j#0",
    "evidence": "j",
    "title": "Kiln",
    "text": "Cy Dorn built the kiln in 1940.",
}
MEMORY: Any = {**STRIP, "id": "m#0", "evidence": "m", "origin": "model"}
ROWS: Any = {"i": ROW, "j": {**ROW, "id": "j", "title": "Kiln"}}
OPENED, CLOSED = "Ada Quill opened the mill in 1931.", "Bert Osk closed it in 1950."


class Written:
    """An answer that is written, and what is seen of it: sentences as they come, then marks."""

    def __init__(self, **options: Any) -> None:
        self.seen: list[tuple[Any, ...]] = []
        self.page = AnswerBuilder(self._emit, ROWS, {}, self._mark, **options)

    def _emit(self, n: int, sentence: Sentence, cited: list[Citation]) -> None:
        self.seen.append((sentence.support, [c.quote for c in cited]))

    def _mark(self, n: int, sentence: Sentence, cited: list[Citation]) -> None:
        self.seen.append((n, sentence.support, [c.quote for c in cited]))

    def tell(self, *sentences: str, named: Sequence[Strip] = (STRIP,)) -> AnswerBuilder:
        for sentence in sentences:
            self.page.tell(sentence, named, [STRIP, OTHER])
        self.page.close()
        return self.page


def test_sentences_are_shown_as_they_come_with_the_nearest_words_and_their_marks_follow() -> None:
    answer = Written()
    page = answer.tell(OPENED, "It closed in 1960.")
    page.remark(1, "verified", [(STRIP, OPENED)])
    page.remark(2, "contradicted", [(STRIP, CLOSED)], [(STRIP, CLOSED)])
    assert answer.seen == [
        ("pending", [OPENED]),
        ("pending", [CLOSED]),
        (1, "verified", [OPENED]),
        (2, "contradicted", [CLOSED]),
    ]
    assert [(s.support, s.confidence, s.says) for s in page.sentences] == [
        ("verified", 1.0, ""),
        ("contradicted", 0.0, CLOSED),
    ]


def test_a_number_that_was_shown_is_kept_for_what_decides_and_there_are_no_gaps() -> None:
    page = Written().tell("Cy Dorn's kiln is of 1940.", "It shut down by 1950.")
    page.remark(1, "verified", [(OTHER, OTHER["text"])])
    page.remark(2, "verified", [(STRIP, CLOSED)])
    cited = [(c.n, c.id, c.title, c.quote) for c in page.citations]
    assert [s.citations for s in page.sentences] == [(1,), (2,)]
    assert cited == [(1, "j", "Kiln", OTHER["text"]), (2, "i", "Mill", CLOSED)]


def test_a_number_that_another_sentence_cites_keeps_its_source() -> None:
    page = Written().tell(OPENED, f"Indeed {OPENED}")
    assert [s.citations for s in page.sentences] == [(1,), (1,)]
    page.remark(1, "verified", [(STRIP, CLOSED)])
    assert [s.citations for s in page.sentences] == [(2,), (1,)]


def test_two_places_of_one_passage_that_decide_together_are_both_cited() -> None:
    page = Written().tell("It was open for nineteen years.")
    page.remark(1, "follows", [(STRIP, OPENED), (STRIP, CLOSED)])
    assert page.sentences[0].citations == (1, 2)
    assert [c.quote for c in page.citations] == [OPENED, CLOSED]


def test_a_source_that_is_named_and_decides_nothing_stays_behind_the_one_that_does() -> None:
    page = Written().tell(OPENED, named=[STRIP, OTHER])
    page.remark(1, "verified", [(STRIP, OPENED)])
    assert page.sentences[0].citations == (1, 2)


def test_a_disputed_sentence_keeps_its_source_and_names_the_other() -> None:
    page = Written().tell(OPENED)
    page.remark(1, "disputed", [(STRIP, OPENED)], [(OTHER, OTHER["text"])])
    made = page.sentences[0]
    assert (made.citations, made.against, made.says) == ((1,), (2,), OTHER["text"])


def test_what_was_said_is_not_said_again() -> None:
    assert len(Written().tell(OPENED, OPENED).sentences) == 1


def test_what_rests_on_a_models_memory_is_the_models_own() -> None:
    assert [s.support for s in Written().tell(OPENED, named=[MEMORY]).sentences] == ["model"]


def test_strict_shows_nothing_before_its_mark_then_what_is_verified_and_counts_the_rest() -> None:
    answer = Written(strict=True)
    page = answer.tell(OPENED, "It was red.", CLOSED)
    assert answer.seen == []
    page.remark(1, "verified", [(STRIP, OPENED)])
    page.remark(2, "unverified", [])
    page.remark(3, "follows", [(STRIP, CLOSED)])
    page.release([2, 3])
    assert answer.seen == [("verified", [OPENED])]
    assert ([s.text for s in page.sentences], page.dropped) == ([OPENED], 2)


def test_without_a_check_a_sentence_is_shown_as_written_with_the_sources_it_names() -> None:
    page = Written(checked=False, strict=True).tell("Ada Quill opened the mill in 1999.")
    assert [(s.text, s.support, s.citations) for s in page.sentences] == [
        ("Ada Quill opened the mill in 1999.", "unchecked", (1,))
    ]


def test_a_row_that_names_nothing_rests_on_what_the_line_before_its_table_named() -> None:
    page = AnswerBuilder(lambda *_: None, ROWS, {})
    for raw in ("These paid [2]:", "\n| Plot | Paid |", "\n| 3 | 74 |", "\n\nTwo did not."):
        tell(raw, [[STRIP], [OTHER]], page)
    assert [(s.text, s.citations) for s in page.sentences] == [
        ("These paid:", (1,)),
        ("Plot | Paid", ()),
        ("3 | 74", (1,)),
        ("Two did not.", ()),
    ]


def test_a_line_that_only_frames_is_neither_judged_nor_cited_and_comes_with_what_it_frames() -> None:
    page = AnswerBuilder(lambda *_: None, {"i": ROW}, {})
    for raw in ("Dear Jonas,", "\n\nWe take it. [1]", "\n\nPriya Nair"):
        tell(raw, [[STRIP]], page)
    page.close()
    assert [(s.text, s.support, s.citations) for s in page.sentences] == [
        ("Dear Jonas,", "unchecked", ()),
        ("We take it.", "pending", (1,)),
        ("Priya Nair", "unchecked", ()),
    ]
    alone = AnswerBuilder(lambda *_: None, {"i": ROW}, {})
    tell("Dear Jonas,", [[STRIP]], alone)
    alone.close()
    assert alone.sentences == []


def test_a_quote_is_shown_unchecked_with_one_citation_and_the_words_that_match() -> None:
    shown: list[Any] = []
    page = AnswerBuilder(lambda n, s, cited: shown.append((n, s, cited)), {"i": ROW}, {})
    page.quote(TEXT, STRIP, [(0, 3), (35, 39)])
    (sentence,) = page.sentences
    assert (sentence.text, sentence.support, sentence.sign, sentence.citations) == (TEXT, "quoted", ">", (1,))
    assert [TEXT[a:b] for a, b in sentence.marked] == ["Ada", "Bert"] and page.citations[0].quote == TEXT
    assert shown == [(1, sentence, page.citations)]


def test_a_line_above_the_quotes_is_shown_at_once_also_where_only_what_is_verified_counts() -> None:
    shown: list[Any] = []
    page = AnswerBuilder(lambda n, s, cited: shown.append((n, s.text, cited)), {"i": ROW}, {}, strict=True)
    page.say_above("They share few words.")
    page.quote(TEXT, STRIP, [])
    assert [(n, text) for n, text, _ in shown] == [(1, "They share few words."), (2, TEXT)]


@pytest.mark.parametrize("strict", [False, True])
def test_what_rests_on_nothing_is_left_out_where_only_what_is_verified_counts(strict: bool) -> None:
    page = AnswerBuilder(lambda *_: None, {}, {}, strict=strict)
    page.tell_unsourced("The moon landing was in 1969.")
    assert ([s.support for s in page.sentences], page.dropped) == ([], 1) if strict else (["model"], 0)
