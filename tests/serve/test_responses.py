"""The second OpenAI door, used with the real client over a real socket."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

QUESTION = "When was the lamp of the lighthouse first lit?"


async def test_a_response_holds_the_answer_with_its_sources_and_usage(chat: AsyncOpenAI) -> None:
    told = await chat.responses.create(model="agent", input=QUESTION)
    assert told.status == "completed" and "1874" in told.output_text and told.usage is not None
    (message,) = told.output
    note = message.content[0].annotations[0]  # type: ignore[union-attr]
    assert told.output_text[note.start_index : note.end_index] == f"[[1]]({note.url})"


async def test_a_stream_tells_in_the_standards_events_what_the_whole_response_says(chat: AsyncOpenAI) -> None:
    events = [e async for e in await chat.responses.create(model="agent", input=QUESTION, stream=True)]
    kinds = [e.type for e in events]
    assert kinds[:4] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
    ]
    assert kinds[-1] == "response.completed" and [e.sequence_number for e in events] == list(range(len(events)))
    text = "".join(e.delta for e in events if e.type == "response.output_text.delta")
    assert text == (await chat.responses.create(model="agent", input=QUESTION)).output_text
    assert events[-1].response.output_text == text


async def test_what_was_said_before_counts(chat: AsyncOpenAI) -> None:
    said: Any = [
        {"role": "user", "content": "How often does the ferry sail?"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Four times a day.", "annotations": []}]},
        {"role": "user", "content": [{"type": "input_text", "text": "From when to when does it sail?"}]},
    ]
    assert "April" in (await chat.responses.create(model="agent", input=said)).output_text


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"previous_response_id": "resp_1"}, "revious_response_id is not kept"),
        ({"conversation": "conv_1"}, "onversation is not kept"),
        ({"conversation": {"id": "conv_1"}}, "onversation is not kept"),
        ({"prompt": {"id": "pmpt_1"}}, "rompt is not kept"),
        ({"input": [{"type": "function_call_output", "call_id": "1", "output": "x"}]}, "function_call_output"),
        ({"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "x"}]}]}, "input_file"),
        ({"input": "..."}, "question is empty"),
    ],
)
async def test_what_cannot_be_done_is_told_in_a_sentence(chat: AsyncOpenAI, sent: Any, words: str) -> None:
    with pytest.raises(openai.BadRequestError, match=words):
        await chat.responses.create(**{"model": "agent", "input": QUESTION, **sent})
    with pytest.raises(openai.NotFoundError):
        await chat.responses.create(model="nothing", input=QUESTION)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"input": []}, "Input: "),
        ({"input": [{"role": "user", "content": 7}]}, "Input"),
        ({"text": {"format": "json"}}, "Text"),
    ],
)
async def test_what_has_another_form_is_told_by_the_callers_name_for_it(
    chat: AsyncOpenAI, sent: Any, words: str
) -> None:
    with pytest.raises(openai.UnprocessableEntityError, match=words):
        await chat.responses.create(**{"model": "agent", "input": QUESTION, **sent})
