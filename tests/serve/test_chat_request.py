"""A conversation goes on whatever a client sends of it: what cannot be used is left out and counted in a note."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from ragweave.serve.chat_request import Message, chore
from ragweave.serve.chat_templates import question_in
from ragweave.tests.serve.conftest import QUESTION

USER = {"role": "user", "content": QUESTION}
PIXEL = "https://pictures.example/a.png"
ODD: dict[str, tuple[list[dict[str, Any]], str]] = {
    "a tool's answer": ([{"role": "tool", "content": "x", "tool_call_id": "1"}, USER], "a reply of a tool"),
    "a tool call": ([{"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}, USER], ""),
    "a function call": ([{"role": "assistant", "content": "", "function_call": {"name": "f"}}, USER], ""),
    "another role": ([{"role": "wizard", "content": "x"}, USER], "a message of another role"),
    "an answer at the end": (
        [USER, {"role": "assistant", "content": "It"}],
        "a message behind the last question",
    ),
    "instructions at the end": ([USER, {"role": "system", "content": "Be brief."}], "a message behind"),
    "a refusal": (
        [{"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}, USER],
        "a refusal",
    ),
    "thoughts": (
        [{"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]}, USER],
        "the thoughts",
    ),
    "a picture by address": (
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": PIXEL}}]}, USER],
        "a picture that is damaged or only an address",
    ),
    "a damaged picture": (
        [
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,!"}}],
            },
            USER,
        ],
        "a picture that is damaged",
    ),
    "a file": (
        [
            {
                "role": "user",
                "content": [{"type": "text", "text": QUESTION}, {"type": "file", "file": {}}],
            }
        ],
        "a file whose content was not sent (index it into the library",
    ),
    "a recording": (
        [{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}, USER],
        "a recording",
    ),
    "a hologram": ([{"role": "user", "content": [{"type": "hologram"}, 3]}, USER], "a part of another kind"),
    "content of another form": (
        [{"role": "assistant", "content": {"answer": 1}}, USER],
        "a part of another kind",
    ),
}


@pytest.mark.parametrize(("messages", "note"), ODD.values(), ids=ODD)
async def test_an_odd_message_closes_no_conversation(
    client: httpx.AsyncClient, messages: list[dict[str, Any]], note: str
) -> None:
    reply = await client.post(
        "/v1/chat/completions", json={"model": "agent", "messages": messages, "stream": None}
    )
    text = reply.json()["choices"][0]["message"]["content"]
    assert reply.status_code == 200 and "Sources:" in text
    assert ("Not used of what was sent:" in text) == bool(note) and note in text


@pytest.mark.parametrize(
    ("item", "note"),
    [
        ({"type": "item_reference", "id": "msg_1"}, "an answer that is named by its id and not sent"),
        ({"type": "function_call", "name": "f", "arguments": "{}", "call_id": "1"}, "a call of a tool"),
        ({"type": "function_call_output", "call_id": "1", "output": "x"}, "a reply of a tool"),
        ({"type": "reasoning", "summary": []}, ""),
    ],
)
async def test_the_second_turn_of_a_newer_client_is_answered(
    client: httpx.AsyncClient, item: dict[str, Any], note: str
) -> None:
    reply = await client.post(
        "/v1/responses", json={"model": "agent", "input": [USER, item, USER], "stream": None}
    )
    assert reply.status_code == 200
    assert ("Not used" in reply.text) == bool(note) and note in reply.text


OPEN_WEBUI = """### Task:
{task}
### Guidelines:
- Be brief.
### Output:
JSON format: {form}
### Examples:
- {{ "title": "📉 Stock Market Trends" }}
### Chat History:
<chat_history>
USER: When was the lamp first lit?
And by whom?
ASSISTANT: On 3 October 1874.
</chat_history>"""
CHORES = {
    "a title": (
        '{ "title": "your concise title here" }',
        {"title": "When was the lamp first lit? And by whom?"},
    ),
    "tags": ('{ "tags": ["tag1", "tag2", "tag3"] }', {"tags": []}),
    "further questions": ('{ "follow_ups": ["Question 1?", "Question 2?"] }', {"follow_ups": []}),
    "searches": ('{ "queries": ["query1"] }', {"queries": []}),
    "the end of a line": ('{ "text": "<your completion>" }', {"text": ""}),
}


@pytest.mark.parametrize(("form", "reply"), CHORES.values(), ids=CHORES)
def test_what_a_chat_app_wants_beside_answers_is_given_in_its_form(form: str, reply: dict[str, Any]) -> None:
    told = chore([Message(role="user", content=OPEN_WEBUI.format(task="Generate it.", form=form))])
    assert told is not None and json.loads(told) == reply


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses"])
@pytest.mark.parametrize("stream", [False, True])
async def test_such_a_request_makes_no_run(client: httpx.AsyncClient, path: str, stream: bool) -> None:
    asked = {"role": "user", "content": OPEN_WEBUI.format(task="Title.", form='{ "title": "..." }')}
    name = "input" if path.endswith("responses") else "messages"
    reply = await client.post(path, json={"model": "agent", name: [asked], "stream": stream})
    assert reply.status_code == 200 and "When was the lamp first lit?" in reply.text
    assert "Sources" not in reply.text and "Note:" not in reply.text


@pytest.mark.parametrize(
    "text", [QUESTION, 'What does { "title": "x" } mean?', "<chat_history>USER: a</chat_history>"]
)
def test_a_question_is_no_such_request(text: str) -> None:
    assert chore([Message(role="user", content=text)]) is None


def test_the_question_is_taken_out_of_the_template_around_files() -> None:
    sources = '### Task:\nRespond.\n<context>\n<source id="1" name="a.md">The lamp.</source>\n</context>\n\n'
    for framed in (f"{sources}<user_query>\n{QUESTION}\n</user_query>", f"{sources}{QUESTION}"):
        assert question_in(framed) == QUESTION
    assert question_in(QUESTION) == QUESTION
