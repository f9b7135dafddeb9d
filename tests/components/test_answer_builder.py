from collections.abc import Sequence
from typing import Any

import pytest

from ragweave.components.answer_builder import AnswerBuilder, Claim
from ragweave.components.evidence import Citation, Sentence, Strip
from ragweave.components.knowledge import CheckResult, Opinion
from ragweave.components.llm.prose import tell
from ragweave.components.local.check import support
from ragweave.models.relevance import Passage

TEXT = "Ada Quill opened the mill in 1931. Bert Osk closed it in 1950."
ROW: Any = {"id": "i", "title": "Mill", "text": TEXT, "locator": {"file": "/mill.md"}, "date": "2024-06-01"}
STRIP: Any = {"id": "i#0", "evidence": "i", "title": "Mill", "text": TEXT, "locator": {}, "origin": "library"}


OTHER: Any = {**STRIP, "id": "j#0", "evidence": "j", "title": "Kiln", "text": "Cy Dorn built the kiln in 1940."}
ROWS: Any = {"i": ROW, "j": {**ROW, "id": "j", "title": "Kiln"}}


async def _never(text: str, strips: Sequence[Strip]) -> CheckResult:
    raise AssertionError(f"{text!r} is checked")


class Written:
    """An answer that is written, and what is seen of it: sentences as they come, then marks."""

    def __init__(self, *opinions: Opinion, judged: bool = True, **options: Any) -> None:
        self.seen: list[tuple[Any, ...]] = []
        self.asked: list[Claim] = []
        self._opinions = opinions
        second = self._second if judged else None
        self.page = AnswerBuilder(self._check, self._emit, ROWS, {}, second, self._mark, **options)

    async def _check(self, text: str, strips: Sequence[Strip]) -> CheckResult:
        return support(text, [Passage(s["title"], s["text"]) for s in strips])

    async def _second(self, claims: Sequence[Claim]) -> list[Opinion]:
        self.asked.extend(claims)
        return list(self._opinions)

    def _emit(self, sentence: Sentence, cited: list[Citation]) -> None:
        self.seen.append((sentence.support, [c.quote for c in cited]))

    def _mark(self, n: int, sentence: Sentence, cited: list[Citation]) -> None:
        self.seen.append((n, sentence.support, [c.quote for c in cited]))

    async def tell(self, *sentences: str, named: Sequence[Strip] = (STRIP,)) -> AnswerBuilder:
        for sentence in sentences:
            await self.page.tell(sentence, named, [STRIP, OTHER])
        await self.page.close()
        return self.page


OPENED, CLOSED = "Ada Quill opened the mill in 1931.", "Bert Osk closed it in 1950."


async def test_what_stands_in_its_passage_needs_no_opinion_and_the_rest_is_shown_first_and_marked_later() -> None:
    answer = Written(Opinion("verified", ((STRIP, OPENED),)), Opinion("contradicted", ((STRIP, CLOSED),)))
    page = await answer.tell(CLOSED, "Frau Quill eröffnete die Mühle.", "It closed in 1960.")
    assert answer.seen == [
        ("verified", [CLOSED]),
        ("pending", [OPENED]),
        ("pending", [CLOSED]),
        (2, "verified", [OPENED]),
        (3, "contradicted", [CLOSED]),
    ]
    assert [(c.n, c.doubted) for c in answer.asked] == [(1, False), (2, True), (3, True)]
    assert (page.sentences[2].says, page.dropped, page.refuted) == (CLOSED, 0, False)


async def test_the_whole_answer_goes_into_one_call_and_none_where_nothing_is_doubted() -> None:
    answer = Written()
    await answer.tell(OPENED, CLOSED)
    assert answer.asked == []
    every = Written(Opinion("unverified"), every=True)
    page = await every.tell("In 1931 Ada Quill opened the mill.", CLOSED)
    assert [c.doubted for c in every.asked] == [True, False]
    assert [s.support for s in page.sentences] == ["verified", "verified"]  # who cannot tell takes nothing back


async def test_a_fact_of_another_passage_is_cited_to_it_and_a_number_once_shown_keeps_its_passage() -> None:
    answer = Written(Opinion("verified", ((OTHER, OTHER["text"]),)), Opinion("verified", ((STRIP, CLOSED),)))
    page = await answer.tell("Cy Dorn's kiln is of 1940.", "It shut down by 1950.")
    assert [s.citations for s in page.sentences] == [(3,), (2,)]
    assert [(c.n, c.id, c.title, c.quote) for c in page.citations[1:]] == [
        (2, "i", "Mill", CLOSED),
        (3, "j", "Kiln", OTHER["text"]),
    ]


async def test_what_stands_in_a_passage_that_is_not_named_verifies_nothing_by_itself() -> None:
    page = await Written(judged=False).tell("Cy Dorn built the kiln in 1940.")
    assert [(s.support, s.citations) for s in page.sentences] == [("unverified", (1,))]
    page = await Written(judged=False).tell("Cy Dorn built the kiln in 1940.", named=[])
    assert [(s.support, page.citations[0].id) for s in page.sentences] == [("verified", "j")]


async def test_strict_shows_what_is_verified_in_its_order_and_counts_the_rest() -> None:
    answer = Written(
        Opinion("unverified"), Opinion("verified", ((STRIP, OPENED),)), Opinion("contradicted"), strict=True
    )
    page = await answer.tell(CLOSED, "It was red.", "Frau Quill eröffnete die Mühle.", "It closed in 1960.")
    assert [(s.text, s.support) for s in page.sentences] == [
        (CLOSED, "verified"),
        ("Frau Quill eröffnete die Mühle.", "verified"),
    ]
    assert page.dropped == 2


async def test_an_answer_is_refuted_where_all_of_it_is_contradicted() -> None:
    against = Opinion("contradicted", ((STRIP, CLOSED),))
    assert (await Written(against, against).tell("It closed in 1960.", "It closed in 1961.")).refuted
    assert not (await Written(against).tell("It closed in 1960.", OPENED)).refuted


@pytest.mark.parametrize(("day", "verdict"), [("2024-06-01", "verified"), ("2024-07-01", "unverified")])
async def test_the_date_of_a_document_counts_as_said(day: str, verdict: str) -> None:
    page = await Written(judged=False).tell(f"By the notes of {day}, Ada Quill opened the mill in 1931.")
    assert [s.support for s in page.sentences] == [verdict]


async def test_without_a_check_a_sentence_is_shown_as_written_with_the_sources_it_names() -> None:
    page = AnswerBuilder(_never, lambda *_: None, {"i": ROW}, {}, checked=False, strict=True)
    await page.tell("Ada Quill opened the mill in 1999.", [STRIP], [STRIP])
    await page.tell("She was tall.", [], [STRIP])
    await page.close()
    assert [(s.text, s.support, s.citations) for s in page.sentences] == [
        ("Ada Quill opened the mill in 1999.", "unchecked", (1,)),
        ("She was tall.", "unchecked", ()),
    ]


async def test_a_row_that_names_nothing_rests_on_what_the_line_before_its_table_named() -> None:
    seen: list[tuple[str, list[str]]] = []

    async def check(text: str, strips: Sequence[Strip]) -> CheckResult:
        seen.append((text, [s["evidence"] for s in strips]))
        return CheckResult(True, 0.9, (0,), "")

    other: Any = {**STRIP, "id": "j#0", "evidence": "j"}
    page = AnswerBuilder(check, lambda *_: None, {"i": ROW, "j": {**ROW, "id": "j"}}, {})
    for raw in ("These paid [2]:", "\n| Plot | Paid |", "\n| 3 | 74 |", "\n\nTwo did not."):
        await tell(raw, [[STRIP], [other]], page)
    assert seen == [("These paid:", ["j"]), ("3 | 74", ["j"]), ("Two did not.", ["i", "j"])]
    assert [s.citations for s in page.sentences] == [(1,), (), (1,), (2,)]


@pytest.mark.parametrize("support", ["verified", "contradicted"])
async def test_a_line_that_only_frames_is_neither_checked_nor_cited_and_goes_with_what_it_frames(support: str) -> None:
    async def check(text: str, strips: Sequence[Strip]) -> CheckResult:
        assert text == "We take it."
        return CheckResult(support == "verified", 0.9, (0,) if support == "verified" else (), "")

    page = AnswerBuilder(check, lambda *_: None, {"i": ROW}, {}, strict=True)
    for raw in ("Dear Jonas,", "\n\nWe take it. [1]", "\n\nPriya Nair"):
        await tell(raw, [[STRIP]], page)
    await page.close()
    told = [(s.text, s.support, s.citations) for s in page.sentences]
    if support == "verified":
        assert told == [
            ("Dear Jonas,", "unchecked", ()),
            ("We take it.", "verified", (1,)),
            ("Priya Nair", "unchecked", ()),
        ]
    else:
        assert told == []


async def test_a_quote_is_shown_unchecked_with_one_citation_at_its_best_sentence() -> None:
    shown: list[Any] = []
    page = AnswerBuilder(_never, lambda s, cited: shown.append((s, cited)), {"i": ROW}, {})
    best: Any = {**STRIP, "text": "Bert Osk closed it in 1950."}
    page.quote(TEXT, best, (35, 62))
    (sentence,) = page.sentences
    assert (sentence.text, sentence.support, sentence.sign, sentence.citations) == (TEXT, "quoted", ">", (1,))
    assert TEXT[slice(*sentence.marked or ())] == page.citations[0].quote == best["text"]
    assert shown == [(sentence, page.citations)]


@pytest.mark.parametrize("strict", [False, True])
async def test_what_rests_on_nothing_is_left_out_where_only_what_is_verified_counts(strict: bool) -> None:
    page = AnswerBuilder(_never, lambda *_: None, {}, {}, strict=strict)
    page.tell_unsourced("The moon landing was in 1969.")
    assert ([s.support for s in page.sentences], page.dropped) == ([], 1) if strict else (["model"], 0)
