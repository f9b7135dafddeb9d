from collections.abc import Sequence
from typing import Any

import pytest

from ragweave.minds.evidence import Strip, Support
from ragweave.minds.known import Checked
from ragweave.minds.page import Claim, Page
from ragweave.minds.small.check import support
from ragweave.models.relevance import Passage

TEXT = "Ada Quill opened the mill in 1931. Bert Osk closed it in 1950."
ROW: Any = {"id": "i", "title": "Mill", "text": TEXT, "locator": {"file": "/mill.md"}, "date": "2024-06-01"}
STRIP: Any = {"id": "i#0", "evidence": "i", "title": "Mill", "text": TEXT, "locator": {}, "origin": "library"}


async def written(sentence: str, opinion: Support | None) -> tuple[Page, list[Claim]]:
    """Write one sentence, and return the page and what a second opinion was asked about."""
    asked: list[Claim] = []

    async def check(text: str, strips: Sequence[Strip]) -> Checked:
        return support(text, [Passage(s["title"], s["text"]) for s in strips])

    async def second(claims: Sequence[Claim]) -> list[Support]:
        asked.extend(claims)
        assert opinion is not None
        return [opinion] * len(claims)

    page = Page(check, lambda *_: None, {"i": ROW}, {}, second=None if opinion is None else second)
    await page.tell(sentence, [STRIP], [STRIP])
    await page.close()
    return page, asked


async def test_the_value_of_another_passes_the_small_check_and_not_the_second_opinion() -> None:
    swapped = "Bert Osk opened the mill in 1931."
    alone, _ = await written(swapped, None)
    page, asked = await written(swapped, "contradicted")
    assert [s.support for s in alone.sentences] == ["verified"]
    assert [c.text for c in asked] == [swapped]
    assert (page.sentences, page.dropped) == ([], 1)


async def test_a_sentence_that_stands_in_the_evidence_needs_no_second_opinion() -> None:
    page, asked = await written("Bert Osk closed it in 1950.", "unverified")
    assert [s.support for s in page.sentences] == ["verified"]
    assert asked == []


@pytest.mark.parametrize(("day", "verdict"), [("1 June 2024", "verified"), ("1 July 2024", "unverified")])
async def test_the_date_of_a_document_counts_as_said(day: str, verdict: str) -> None:
    page, _ = await written(f"By the notes of {day}, Ada Quill opened the mill in 1931.", None)
    assert [s.support for s in page.sentences] == [verdict]
