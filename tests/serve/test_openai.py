"""The OpenAI-compatible door, used with the real client over a real socket."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import openai
import pytest
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI
from pydantic import SecretStr

from ragweave.app.api import GRAPHS
from ragweave.serve.chat_request import without_links

QUESTION = "When was the lamp of the lighthouse first lit?"
MESSAGES: Any = [{"role": "user", "content": QUESTION}]


async def test_each_graph_is_a_model_and_so_is_each_further_library(chat: AsyncOpenAI) -> None:
    names = [m.id async for m in chat.models.list()]
    assert names == [*GRAPHS, "agent@tea room"]
    assert (await chat.models.retrieve("agent@tea room")).id == "agent@tea room"
    asked: Any = [{"role": "user", "content": "At how many degrees is tea brewed?"}]
    answer = await chat.chat.completions.create(model="agent@tea room", messages=asked)
    assert "ninety" in str(answer.choices[0].message.content)


async def test_an_answer_has_links_that_open_annotations_and_usage(chat: AsyncOpenAI) -> None:
    answer = await chat.chat.completions.create(model="agent", messages=MESSAGES)
    message = answer.choices[0].message
    text = str(message.content)
    assert "1874" in text and answer.choices[0].finish_reason == "stop" and answer.usage is not None
    cited = (message.annotations or [])[0].url_citation
    assert text[cited.start_index : cited.end_index] == f"[[1]]({cited.url})"
    assert f"1. [The lighthouse · History]({cited.url})" in text
    async with httpx.AsyncClient(follow_redirects=False) as client:
        opened = await client.get(cited.url)
    assert opened.status_code == 303 and opened.headers["location"].startswith("/#/open/")


async def test_quotes_are_block_quotes_below_their_linked_titles_and_the_note_is_told_once(chat: AsyncOpenAI) -> None:
    answer = await chat.chat.completions.create(model="agent", messages=MESSAGES)
    message = answer.choices[0].message
    text, url = str(message.content), (message.annotations or [])[0].url_citation.url
    head = f"[The lighthouse · History]({url}) [[1]]({url})"
    said = "> **The lamp of the lighthouse was first lit on 3 October 1874.**"
    assert text.startswith(f"{head}\n\n{said}\n")
    assert text.count("No language model read these passages") == 1 and "ragweave setup" in text
    assert without_links(text).startswith(f"The lighthouse · History [1]\n\n{said}")


async def test_a_stream_tells_the_steps_then_sentences_then_sources(chat: AsyncOpenAI) -> None:
    stream = await chat.chat.completions.create(
        model="crag", messages=MESSAGES, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    deltas = [c.choices[0].delta for c in chunks if c.choices]
    assert deltas[0].role == "assistant"
    assert any("Searched" in (d.model_extra or {}).get("reasoning_content", "") for d in deltas)
    whole = await chat.chat.completions.create(model="crag", messages=MESSAGES)
    assert "".join(d.content or "" for d in deltas) == whole.choices[0].message.content
    assert (deltas[-1].model_extra or {})["annotations"] and chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].usage is not None and not chunks[-1].choices


@pytest.mark.parametrize("responses", [False, True])
async def test_langchains_chat_model_is_answered_whole_and_in_a_stream(chat: AsyncOpenAI, responses: bool) -> None:
    model = ChatOpenAI(
        base_url=str(chat.base_url), api_key=SecretStr("none"), model="agent", use_responses_api=responses
    )
    whole = await model.ainvoke(QUESTION)
    assert "3 October 1874" in whole.text and whole.usage_metadata is not None
    parts = [part.text async for part in model.astream(QUESTION)]
    assert "".join(parts) == whole.text and len([part for part in parts if part]) > 1


async def test_a_follow_up_is_read_in_the_light_of_earlier_turns(chat: AsyncOpenAI) -> None:
    first = await chat.chat.completions.create(model="agent", messages=MESSAGES)
    turns: Any = [
        {"role": "system", "content": "Answer like a pirate."},
        *MESSAGES,
        {"role": "assistant", "content": first.choices[0].message.content},
        {"role": "user", "content": [{"type": "text", "text": "And how often does the ferry sail?"}]},
    ]
    answer = await chat.chat.completions.create(model="agent", messages=turns)
    assert "four times" in str(answer.choices[0].message.content)


async def test_steps_can_be_left_out_and_knobs_set(chat: AsyncOpenAI) -> None:
    own = {"ragweave": {"steps": False, "context": {"top_k": 1}}}
    answer = await chat.chat.completions.create(model="agent", messages=MESSAGES, extra_body=own)
    assert "reasoning_content" not in (answer.choices[0].message.model_extra or {})


async def test_what_the_library_does_not_know_is_said(chat: AsyncOpenAI) -> None:
    asked: Any = [{"role": "user", "content": "Who won the chess tournament of Zanzibar in 1911?"}]
    answer = await chat.chat.completions.create(model="agent", messages=asked)
    assert "1911" not in str(answer.choices[0].message.content).split("Closest")[0].replace(asked[0]["content"], "")


USER = {"role": "user", "content": QUESTION}
BAD: list[tuple[str, dict[str, Any], int]] = [
    ("an unknown model", {"model": "gpt-4"}, 404),
    ("an unknown library", {"model": "agent@nothing"}, 404),
    ("no messages", {"messages": []}, 422),
    ("an invalid role", {"messages": [{"role": "wizard", "content": "x"}]}, 422),
    ("no user at the end", {"messages": [USER, {"role": "assistant", "content": "x"}]}, 400),
    ("an empty question", {"messages": [{"role": "user", "content": " "}]}, 400),
    ("a question of 9,000 letters", {"messages": [{"role": "user", "content": "why " * 2250}]}, 400),
    ("a tool's answer", {"messages": [{"role": "tool", "content": "x", "tool_call_id": "1"}, USER]}, 400),
    ("a tool call", {"messages": [{"role": "assistant", "tool_calls": [{"id": "1"}]}, USER]}, 400),
    ("a tool that must be called", {"tool_choice": "required"}, 400),
    ("a recording", {"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}, 400),
    ("a part of another type", {"messages": [{"role": "user", "content": [{"type": "hologram"}]}]}, 400),
    ("a function that must be called", {"functions": [{"name": "f"}], "function_call": {"name": "f"}}, 400),
    ("two choices", {"n": 2}, 400),
    ("another form", {"response_format": {"type": "json_object"}}, 400),
    ("a knob out of bounds", {"ragweave": {"context": {"top_k": 99}}}, 422),
    ("two libraries", {"model": "agent@default", "ragweave": {"library": "tea room"}}, 422),
    ("an unknown knob", {"ragweave": {"knob": 1}}, 422),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("name", "body", "status"), BAD, ids=[b[0] for b in BAD])
async def test_what_cannot_be_asked_is_refused_in_the_standards_form(
    client: httpx.AsyncClient, name: str, body: dict[str, Any], status: int, stream: bool
) -> None:
    sent = {"model": "agent", "messages": [USER], "stream": stream, **body}
    answer = await client.post("/v1/chat/completions", json=sent)
    error = answer.json()["error"]
    assert answer.status_code == status and set(error) == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error" and error["message"].endswith(".")


async def test_a_function_that_may_be_called_changes_nothing(client: httpx.AsyncClient) -> None:
    for choice in ("auto", "none", None):
        body = {"model": "agent", "messages": [USER], "functions": [{"name": "f"}], "function_call": choice}
        assert (await client.post("/v1/chat/completions", json=body)).status_code == 200


async def test_a_library_that_the_model_names_as_well_is_taken(client: httpx.AsyncClient) -> None:
    for more in ({"model": "agent@default", "ragweave": {"library": " default "}}, {"model": "agent@default"}):
        answer = await client.post("/v1/chat/completions", json={"messages": [USER], **more})
        assert answer.status_code == 200, answer.text


async def test_the_client_raises_its_own_errors(chat: AsyncOpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="does not exist"):
        await chat.chat.completions.create(model="gpt-4", messages=MESSAGES)
    with pytest.raises(openai.APIStatusError) as caught:
        await chat.chat.completions.create(model="agent", messages=[{"role": "user", "content": "x" * 9_000_000}])
    assert caught.value.status_code == 413


async def test_malformed_json_is_refused_in_the_standards_form(client: httpx.AsyncClient) -> None:
    headers = {"content-type": "application/json"}
    answer = await client.post("/v1/chat/completions", content=b'{"model": ', headers=headers)
    assert answer.status_code == 400 and answer.json()["error"]["code"] == "input"


async def test_a_conversation_of_a_thousand_messages_is_answered(client: httpx.AsyncClient) -> None:
    turns = [{"role": ("user", "assistant")[i % 2], "content": f"Note {i}."} for i in range(1_000)]
    answer = await client.post("/v1/chat/completions", json={"model": "agent", "messages": [*turns, USER]})
    assert "1874" in answer.json()["choices"][0]["message"]["content"]


async def test_many_streams_at_once_do_not_mix(chat: AsyncOpenAI) -> None:
    async def ask(question: str) -> str:
        messages: Any = [{"role": "user", "content": question}]
        stream = await chat.chat.completions.create(model="agent", messages=messages, stream=True)
        return "".join([c.choices[0].delta.content or "" async for c in stream])

    questions = [QUESTION, "How often does the ferry sail?"] * 4
    answers = await asyncio.gather(*map(ask, questions))
    assert all(a.startswith("[The lighthouse") for a in answers[::2]) and len({*answers}) == 2
    assert all(a.startswith("[The ferry") for a in answers[1::2])


def test_links_are_taken_off_an_earlier_answer() -> None:
    assert without_links("It was lit [[1]](http://x/open/a/b?chars=1-2). [[2]](y)\n\n---\nSources: z") == (
        "It was lit [1]. [2]"
    )
