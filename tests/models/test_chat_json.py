from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk
from pydantic import BaseModel, Field

from ragweave.models.chat_json import read_json
from ragweave.models.chat_reply import ChatReply, read_label, without_thoughts


class Grade(BaseModel):
    verdict: str
    score: float = 0.0


class Queries(BaseModel):
    queries: list[str] = Field(min_length=1)


LABELS = ("correct", "incorrect", "ambiguous", "video", "video_clip")


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("correct", "correct"),
        ("**INCORRECT**", "incorrect"),
        ("The verdict is: ambiguous, because the passage is thin.", "ambiguous"),
        ('{"label": "incorrect"}', "incorrect"),
        ("It could be correct or incorrect.\nVerdict: incorrect", "incorrect"),
        ("<think>correct? no, incorrect.</think>\nambiguous", "ambiguous"),
        ("correct or incorrect", None),
        ("This is not correct.", None),
        ("not correct but ambiguous", "ambiguous"),
        ("a video clip, not a video", "video_clip"),
        ("correctness", None),
        ("正确", None),
        ("x" * 100_000, None),
    ],
)
def test_a_label_is_found_in_what_models_write_around_it(reply: str, label: str | None) -> None:
    assert read_label(reply, LABELS) == label


@given(st.text(max_size=300))
def test_any_text_reads_as_one_of_the_labels_or_none(text: str) -> None:
    assert read_label(text, LABELS) in (*LABELS, None)


@pytest.mark.parametrize(
    "reply",
    [
        '```json\n{"verdict": "yes", "score": 0.5}\n```',
        'Sure! Here it is:\n\n{"verdict": "yes", "score": 0.5}\n\nAnything else?',
        '{"verdict": "yes", "score": 0.5,}',
        '<think>{"verdict": "no"}</think>{"verdict": "yes", "score": 0.5}',
        'The schema {"type": "object"} asks for this: {"verdict": "yes", "score": 0.5}',
        'Not [this] but {"verdict": "yes", "score": 0.5} and not {this}',
        '[{"verdict": "yes", "score": 0.5}]',
    ],
)
def test_json_is_found_in_whatever_wrapping(reply: str) -> None:
    assert read_json(reply, Grade) == Grade(verdict="yes", score=0.5)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        '{"verdict": "ye',
        "{" * 40_000,
        "[" * 40_000 + "]" * 40_000,
        '{"a":' * 20_000,
        ",}" * 20_000,
        "<html><body>502 Bad Gateway</body></html>",
        '{"verdict": "yes", "score": NaN}',
    ],
)
def test_what_holds_no_fitting_json_reads_as_none(reply: str) -> None:
    assert read_json(reply, Grade) is None


def test_a_bare_list_fits_a_schema_with_one_field_and_half_an_emoji_becomes_printable() -> None:
    assert read_json('["a", "b"]', Queries) == Queries(queries=["a", "b"])
    assert read_json('{"verdict": "\\ud83d, \\ud83d\\ude00"}', Grade) == Grade(verdict="?, 😀")


@given(st.text(max_size=200))
def test_any_text_is_survived(text: str) -> None:
    found = read_json(text, Queries)
    assert found is None or found.queries


@given(
    st.lists(st.text(max_size=20), min_size=1, max_size=4),
    st.sampled_from(["{}", "```json\n{}\n```", "Here: {} ."]),
)
def test_what_was_written_is_read_back(queries: list[str], frame: str) -> None:
    written = json.dumps({"queries": queries})
    found = read_json(frame.format(written), Queries)
    assert found == Queries(queries=[q.encode("utf-8", "replace").decode() for q in queries])


@given(st.text(alphabet="ab <think/>\n", max_size=60), st.integers(1, 7))
def test_a_stream_shows_what_the_whole_text_would(text: str, width: int) -> None:
    reply = ChatReply()
    for i in range(0, len(text), width):
        reply.add(AIMessageChunk(text[i : i + width]))
    assert reply.take(ended=True).strip() == without_thoughts(text)
