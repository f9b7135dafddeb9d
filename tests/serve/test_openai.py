"""What the OpenAI doors add to the contract of all doors, used with the real clients over a real socket."""

from __future__ import annotations

from typing import Any

import httpx
import openai
import pytest
from openai import AsyncOpenAI

from ragweave.app.api import GRAPHS
from ragweave.serve.chat_request import ChatRequest, without_links
from ragweave.serve.openai import ChatCompletionWriter
from ragweave.tests.serve.conftest import QUESTION

USER: Any = {"role": "user", "content": QUESTION}


async def test_each_graph_is_a_model_and_so_is_each_further_library(chat: AsyncOpenAI) -> None:
    assert [m.id async for m in chat.models.list()] == [*GRAPHS, "agent@tea room"]
    assert (await chat.models.retrieve("agent@tea room")).id == "agent@tea room"


async def test_an_answer_quotes_under_linked_titles_with_annotations_that_open_and_usage(
    chat: AsyncOpenAI,
) -> None:
    answer = await chat.chat.completions.create(model="agent", messages=[USER])
    message = answer.choices[0].message
    text, cited = str(message.content), (message.annotations or [])[0].url_citation
    plain = text.replace("**", "")
    head = f"[The lighthouse · History]({cited.url}) [[1]]({cited.url})"
    assert plain.startswith(f"{head}\n\n> The lamp of the lighthouse was first lit on 3 October 1874."), text
    assert text[cited.start_index : cited.end_index] == f"[[1]]({cited.url})" and "ragweave setup" in text
    assert answer.choices[0].finish_reason == "stop" and answer.usage is not None
    assert without_links(plain).startswith("The lighthouse · History [1]\n\n> The lamp")
    async with httpx.AsyncClient(follow_redirects=False) as client:
        opened = await client.get(cited.url)
    assert opened.status_code == 303 and opened.headers["location"].startswith("/#/open/")


async def test_a_stream_tells_the_steps_then_sentences_then_sources(chat: AsyncOpenAI) -> None:
    how: Any = {"model": "crag", "stream": True, "stream_options": {"include_usage": True}}
    chunks = [chunk async for chunk in await chat.chat.completions.create(messages=[USER], **how)]
    deltas = [c.choices[0].delta for c in chunks if c.choices]
    assert deltas[0].role == "assistant"
    assert any("Searched" in (d.model_extra or {}).get("reasoning_content", "") for d in deltas)
    assert (deltas[-1].model_extra or {})["annotations"] and chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].usage is not None and not chunks[-1].choices
    own = {"ragweave": {"steps": False}}
    quiet = await chat.chat.completions.create(model="agent", messages=[USER], extra_body=own)
    assert "reasoning_content" not in (quiet.choices[0].message.model_extra or {})


async def test_a_response_tells_the_events_of_the_standard(chat: AsyncOpenAI) -> None:
    events = [e async for e in await chat.responses.create(model="agent", input=QUESTION, stream=True)]
    kinds = [e.type.removeprefix("response.") for e in events]
    assert kinds[:4] == ["created", "in_progress", "output_item.added", "content_part.added"]
    assert kinds[-1] == "completed" and [e.sequence_number for e in events] == list(range(len(events)))
    text = "".join(e.delta for e in events if e.type == "response.output_text.delta")
    told = await chat.responses.create(model="agent", input=QUESTION)
    assert text == told.output_text and told.status == "completed" and told.usage is not None


CHAT: dict[str, tuple[dict[str, Any], int]] = {
    "an unknown model": ({"model": "gpt-4"}, 404),
    "no messages": ({"messages": []}, 422),
    "no message of the user": ({"messages": [{"role": "wizard", "content": "x"}]}, 400),
    "a tool that must be called": ({"tool_choice": "required"}, 400),
    "a part of another type": ({"messages": [{"role": "user", "content": [{"type": "hologram"}]}]}, 400),
    "a function that must be called": ({"functions": [{"name": "f"}], "function_call": {"name": "f"}}, 400),
    "two choices": ({"n": 2}, 400),
    "another form": ({"response_format": {"type": "json_object"}}, 400),
    "two libraries": ({"model": "agent@default", "ragweave": {"library": "tea room"}}, 422),
    "an unknown member": ({"ragweave": {"knob": 1}}, 422),
}


@pytest.mark.parametrize("stream", [False, True])
async def test_what_cannot_be_asked_is_refused_in_the_standards_form(
    client: httpx.AsyncClient, stream: bool
) -> None:
    for case, (body, status) in CHAT.items():
        sent = {"model": "agent", "messages": [USER], "stream": stream, **body}
        answer = await client.post("/v1/chat/completions", json=sent)
        error = answer.json()["error"]
        assert answer.status_code == status and set(error) == {"message", "type", "param", "code"}, case
        assert error["type"] == "invalid_request_error" and error["message"].endswith("."), case


@pytest.mark.parametrize(
    ("sent", "status", "words"),
    [
        ({"previous_response_id": "resp_1"}, 400, "revious_response_id is not kept"),
        ({"conversation": {"id": "conv_1"}}, 400, "onversation is not kept"),
        ({"prompt": {"id": "pmpt_1"}}, 400, "rompt is not kept"),
        (
            {"input": [{"type": "function_call_output", "call_id": "1", "output": "x"}]},
            400,
            "no message of the user",
        ),
        (
            {"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "x"}]}]},
            400,
            "files and no",
        ),
        ({"input": []}, 422, "Input: "),
        ({"text": {"format": "json"}}, 422, "Text"),
        ({"model": "nothing"}, 404, "does not exist"),
    ],
)
async def test_what_cannot_be_responded_to_is_told_by_the_callers_name_for_it(
    chat: AsyncOpenAI, sent: Any, status: int, words: str
) -> None:
    with pytest.raises(openai.APIStatusError, match=words) as caught:
        await chat.responses.create(**{"model": "agent", "input": QUESTION, **sent})
    assert caught.value.status_code == status


async def test_marks_follow_the_sentences_and_stand_in_the_message_at_the_end() -> None:
    place: Any = {"n": 1, "title": "Mill", "locator": {}, "open": {"view": "text", "href": "/#/open/x"}}
    other: Any = {**place, "n": 2, "title": "Kiln"}
    said = [("It has 9 wheels.", "contradicted", "It has two wheels."), ("It is red.", "unverified", "")]

    async def events() -> Any:
        for n, (text, _, _) in enumerate(said, 1):
            yield {
                "type": "sentence",
                "n": n,
                "text": text,
                "support": "pending",
                "sign": "",
                "citations": [place],
            }
        for n, (_, support, says) in enumerate(said, 1):
            yield {
                "type": "mark",
                "n": n,
                "support": support,
                "says": says,
                "against": [],
                "citations": [other if n == 1 else place],
            }
        rows = [
            {"text": t, "support": s, "says": w, "against": [], "citations": [3 - n]}
            for n, (t, s, w) in enumerate(said, 1)
        ]
        told = {
            "sentences": rows,
            "citations": [other],
            "abstained": False,
            "notes": [],
            "usage": [],
            "text": "",
        }
        yield {"type": "answer", "answer": told}

    writer = ChatCompletionWriter(ChatRequest(model="agent", messages=[USER]), "http://x")
    message = (await writer.whole(events()))["choices"][0]["message"]
    text = message["content"]
    assert text.startswith(
        "It has 9 wheels. [[1]](http://x/#/open/x) It is red. [[1]](http://x/#/open/x)\n\n"
    )
    assert (
        "“It has 9 wheels.” [[2]](http://x/#/open/x) (contradicted; the source says: “It has two wheels.”)"
        in text
    )
    assert "“It is red.” [[1]](http://x/#/open/x) (not found in the sources)" in text
    assert (
        "1. [Mill](http://x/#/open/x)\n2. [Kiln](http://x/#/open/x)" in text
    )  # a number that is shown keeps its source
    assert [(m["n"], m["support"], m["citations"]) for m in message["ragweave_marks"]] == [
        (1, "contradicted", [2]),
        (2, "unverified", [1]),
    ]
    assert [a["url_citation"]["title"] for a in message["annotations"]] == ["Mill", "Mill", "Kiln", "Mill"]
