"""Places on the timeline, and the sentences that tell them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.types import Item, Span
from ragweave.corpora.video.mentions import Mention, heard, phrases, whole
from ragweave.minds.evidence import Strip, Timeline
from ragweave.minds.small.answer.tell import strip, tell


def clip(text: str, times: list[tuple[int, int, float, float]], **meta: Any) -> Item:
    """A clip of the first half minute, with times for stretches of its text."""
    return Item(
        "c" * 24, "clip", "s" * 24, "Talk", text,
        {"kind": "time", "file": "/talk.mp4", "start": 0.0, "end": 30.0},
        spans=tuple(Span(a, b, time=(start, end)) for a, b, start, end in times),
        meta=meta,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "phrase", "found"),
    [
        ("The rovers drove. A Rover stopped.", "rover", ["rovers", "Rover"]),
        ("Hugging Face, and hugging faces again", "Hugging Face", ["Hugging Face", "hugging faces"]),
        ("“GPT-3” is not GPT 3 but GPT-30", "GPT-3", ["GPT-3", "GPT 3"]),
        ("注意力机制很重要,注意力也难。", "注意力", ["注意力", "注意力"]),
        ("nothing of the kind", "comet", []),
        ("", "comet", []),
    ],
)
def test_a_phrase_is_found_by_the_stems_of_its_words_one_after_another(
    text: str, phrase: str, found: list[str]
) -> None:
    assert [text[a:b] for a, b in phrases(text, phrase)] == found


@given(st.text(max_size=80), st.text(min_size=1, max_size=12))
def test_places_of_a_phrase_lie_in_the_text_and_in_order(text: str, phrase: str) -> None:
    found = phrases(text, phrase)
    assert found == sorted(found)
    assert all(0 <= a < b <= len(text) for a, b in found)


def test_a_mention_has_the_seconds_of_its_own_words() -> None:
    item = clip("One here. Two there.", [(0, 9, 3.0, 5.0), (10, 20, 7.0, 9.0)])
    mention = whole(Mention(item, 14, 19))
    row = strip(mention, "q", 1)
    assert row["text"] == "Two there."
    assert (row["locator"]["start"], row["locator"]["end"]) == (7.0, 9.0)


def test_what_a_vision_model_described_was_not_said() -> None:
    item = clip("Said words. A red car.", [], parts={"transcript": [0, 11], "caption": [12, 22]})
    assert item.text[: heard(item)].strip() == "Said words."
    assert heard(clip("Said.", [])) == 5


def moment(at: float, text: str = "Words.", title: str = "Talk") -> Strip:
    return {
        "id": f"x#{at}", "evidence": "x", "text": text, "title": title,
        "locator": {"kind": "time", "file": f"/{title}.mp4", "start": at, "end": at + 2},
        "origin": "library", "query": "q", "hop": 1, "score": 1.0,
    }  # fmt: skip


def timeline(kind: str, moments: list[Strip], **more: Any) -> Timeline:
    given: dict[str, Any] = {"thing": "moon", "other": "sun", "late": False, "others": [], "total": len(moments)}
    return {"kind": kind, "moments": moments, **given, **more}  # type: ignore[typeddict-item]


def test_a_first_mention_is_told_with_its_time_and_its_words() -> None:
    (told,) = tell(timeline("first", [moment(751, "The moon rises.")]), "When is the moon first mentioned?", 3)
    assert told.text == "“moon” is first mentioned at 12:31 in Talk: “The moon rises.”"
    assert told.rests == (moment(751, "The moon rises."),)


def test_mentions_are_counted_per_recording_and_several_in_one_second_are_marked() -> None:
    rows = [moment(5), moment(5), moment(65), moment(3, title="Film")]
    told = tell(timeline("count", rows), "How many times is the moon mentioned?", 3)
    assert told[0].text == "“moon” is mentioned 4 times in all."
    assert told[1].text == "“moon” is mentioned 3 times in Talk: at 0:05 (2×), 1:05."
    assert told[2].text == "“moon” is mentioned once in Film: at 0:03."


def test_more_mentions_than_are_listed_are_still_counted() -> None:
    told = tell(timeline("count", [moment(n) for n in range(20)], total=93), "How often?", 3)
    assert told[0].text == "“moon” is mentioned 93 times in all; the first 20 are listed."


def test_an_order_is_told_in_the_recordings_that_have_both() -> None:
    rows = timeline("order", [moment(9), moment(4, title="Film")], others=[moment(3)])
    (told,) = tell(rows, "Which comes first, the moon or the sun?", 3)
    assert told.text == "“sun” comes first in Talk, at 0:03; “moon” is mentioned at 0:09."


def test_a_chinese_question_is_answered_in_chinese() -> None:
    (told,) = tell(timeline("first", [moment(61)]), "什么时候第一次提到月亮?", 3)
    assert "1:01" in told.text and "第一次" in told.text


def test_what_comes_after_is_quoted() -> None:
    told = tell(timeline("after", [moment(1, "One  two."), moment(2, "Three.")]), "What comes after?", 3)
    assert [t.text for t in told] == ["One two.", "Three."]
