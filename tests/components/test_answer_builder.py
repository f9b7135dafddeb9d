from collections.abc import Sequence
from typing import Any

import pytest

from ragweave.components.answer_builder import CLEAR, AnswerBuilder, Claim
from ragweave.components.evidence import Strip, Support
from ragweave.components.knowledge import CheckResult
from ragweave.components.llm.prose import tell
from ragweave.components.local.check import support
from ragweave.models.relevance import Passage

TEXT = "Ada Quill opened the mill in 1931. Bert Osk closed it in 1950."
ROW: Any = {"id": "i", "title": "Mill", "text": TEXT, "locator": {"file": "/mill.md"}, "date": "2024-06-01"}
STRIP: Any = {"id": "i#0", "evidence": "i", "title": "Mill", "text": TEXT, "locator": {}, "origin": "library"}


async def _never(text: str, strips: Sequence[Strip]) -> CheckResult:
    raise AssertionError(f"{text!r} is checked")


async def written(
    *sentences: str, opinion: Support | None = None, every: bool = True
) -> tuple[AnswerBuilder, list[Claim]]:
    """Write sentences, and return the page and what a second opinion was asked about."""
    asked: list[Claim] = []

    async def check(text: str, strips: Sequence[Strip]) -> CheckResult:
        return support(text, [Passage(s["title"], s["text"]) for s in strips])

    async def second(claims: Sequence[Claim]) -> list[Support]:
        asked.extend(claims)
        assert opinion is not None
        return [opinion] * len(claims)

    page = AnswerBuilder(
        check, lambda *_: None, {"i": ROW}, {}, second=None if opinion is None else second, every=every
    )
    for sentence in sentences:
        await page.tell(sentence, [STRIP], [STRIP])
    await page.close()
    return page, asked


async def test_the_value_of_another_passes_the_small_check_and_not_the_second_opinion() -> None:
    swapped = "Bert Osk opened the mill in 1931."
    alone, _ = await written(swapped)
    page, asked = await written(swapped, opinion="contradicted")
    assert [s.support for s in alone.sentences] == ["verified"]
    assert [c.text for c in asked] == [swapped]
    assert (page.sentences, page.dropped) == ([], 1)


async def test_a_sentence_that_stands_in_the_evidence_needs_no_second_opinion() -> None:
    page, asked = await written("Bert Osk closed it in 1950.", opinion="unverified")
    assert [s.support for s in page.sentences] == ["verified"]
    assert asked == []


@pytest.mark.parametrize(("day", "verdict"), [("2024-06-01", "verified"), ("2024-07-01", "unverified")])
async def test_the_date_of_a_document_counts_as_said(day: str, verdict: str) -> None:
    page, _ = await written(f"By the notes of {day}, Ada Quill opened the mill in 1931.")
    assert [s.support for s in page.sentences] == [verdict]


async def test_only_what_the_small_check_doubts_waits_for_a_second_opinion() -> None:
    clear, doubted = "In 1931 the mill was opened by Ada Quill.", "Frau Quill eröffnete die Mühle."
    page, asked = await written(clear, doubted, "Bert Osk closed it.", opinion="verified", every=False)
    assert [c.text for c in asked] == [doubted]
    assert [s.text for s in page.sentences] == [clear, doubted, "Bert Osk closed it."]
    assert {s.support for s in page.sentences} == {"verified"}


async def test_nothing_is_shown_before_a_sentence_that_waits() -> None:
    shown: list[str] = []

    async def check(text: str, strips: Sequence[Strip]) -> CheckResult:
        return CheckResult(text != "doubtful", 0.9, (0,), "")

    async def second(claims: Sequence[Claim]) -> list[Support]:
        assert shown == ["clear"]
        return ["contradicted"]

    page = AnswerBuilder(check, lambda s, _: shown.append(s.text), {"i": ROW}, {}, second=second)
    for text in ("clear", "doubtful", "also clear"):
        await page.tell(text, [STRIP], [STRIP])
    await page.close()
    assert shown == ["clear", "also clear"]


async def test_an_opinion_that_cannot_tell_takes_nothing_back() -> None:
    page, asked = await written("In 1931 the mill was opened by Ada Quill.", opinion="unverified")
    assert len(asked) == 1
    assert [s.support for s in page.sentences] == ["verified"]


async def test_without_a_check_a_sentence_is_shown_as_written_with_the_sources_it_names() -> None:
    page = AnswerBuilder(_never, lambda *_: None, {"i": ROW}, {}, checked=False, strict=True)
    await page.tell("Ada Quill opened the mill in 1999.", [STRIP], [STRIP])
    await page.tell("She was tall.", [], [STRIP])
    await page.close()
    assert [(s.text, s.support, s.citations) for s in page.sentences] == [
        ("Ada Quill opened the mill in 1999.", "unchecked", (1,)),
        ("She was tall.", "unchecked", ()),
    ]


async def test_what_names_nothing_that_it_rests_on_bears_no_mark_where_the_second_opinion_finds_it_said() -> None:
    async def check(text: str, strips: Sequence[Strip]) -> CheckResult:
        return CheckResult(False, 0.0, (), "")

    async def second(claims: Sequence[Claim]) -> list[Support]:
        return ["verified"] * len(claims)

    page = AnswerBuilder(check, lambda *_: None, {"i": ROW}, {}, second=second)
    await page.tell("It was a fine day.", [], [STRIP])
    await page.tell("Ada Quill war die Gründerin.", [STRIP], [STRIP])
    await page.close()
    assert [(s.support, bool(s.citations)) for s in page.sentences] == [("verified", False), ("verified", True)]


@pytest.mark.parametrize(
    ("score", "opinion", "cited"),
    [(0.8, "verified", "i"), (0.8, "unverified", "j"), (0.8, "contradicted", ""), (0.95, "contradicted", "j")],
)
async def test_what_half_stands_elsewhere_takes_the_place_of_what_was_named_only_where_no_opinion_is_against_it(
    score: float, opinion: Support, cited: str
) -> None:
    other: Any = {**STRIP, "id": "j#0", "evidence": "j"}
    asked: list[Claim] = []

    async def check(text: str, strips: Sequence[Strip]) -> CheckResult:
        found = tuple(n for n, s in enumerate(strips) if s["evidence"] == "j")
        return CheckResult(bool(found), score, found, "")

    async def second(claims: Sequence[Claim]) -> list[Support]:
        asked.extend(claims)
        return [opinion]

    page = AnswerBuilder(check, lambda *_: None, {"i": ROW, "j": {**ROW, "id": "j"}}, {}, second=second)
    await page.tell("Here are the nine that paid.", [STRIP], [STRIP, other])
    await page.close()
    assert [c.id for c in page.citations] == [cited] * bool(cited)
    assert [[s["evidence"] for s in c.seen] for c in asked] == [["i", "j"]] * (score < CLEAR)


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
