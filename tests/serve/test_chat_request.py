"""A conversation goes on whatever a client sends of it: what cannot be used is left out and counted in a note."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.components.chat_messages import read_message
from ragweave.serve.chat_parts import read_content
from ragweave.serve.chat_templates import question_in
from ragweave.serve.chores import chore
from ragweave.tests.serve.conftest import QUESTION

USER = {"role": "user", "content": QUESTION}
PIXEL = "https://pictures.example/a.png"
ODD: dict[str, tuple[list[dict[str, Any]], str]] = {
    "a tool's answer": ([{"role": "tool", "content": "x", "tool_call_id": "1"}, USER], "a reply of a tool"),
    "a tool call": (
        [{"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}, USER],
        "a call of a tool",
    ),
    "a function call": (
        [{"role": "assistant", "content": "", "function_call": {"name": "f"}}, USER],
        "a call of a tool",
    ),
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
    "no role": ([{"content": "x"}, {"role": None}, {"role": 3}, USER], "a message without a role (3 times)"),
    "no message": ([None, 5, [[], None], USER], "a message that cannot be read (3 times)"),
    "a refusal of its own": ([{"role": "assistant", "content": None, "refusal": "no"}, USER], "a refusal"),
    "a spoken answer": ([{"role": "assistant", "content": None, "audio": {"id": "a"}}, USER], "a recording"),
    "a picture of the question by address": (
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": QUESTION},
                    {"type": "image_url", "image_url": {"url": PIXEL}},
                ],
            }
        ],
        "A picture of the question was not used: a picture is not fetched from an address",
    ),
    "five pictures": (
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": QUESTION},
                    *[{"type": "image_url", "image_url": {"url": PIXEL}}] * 5,
                ],
            }
        ],
        "a picture after the first 4",
    ),
    "content of another form": (
        [{"role": "assistant", "content": {"answer": 1}}, USER],
        "a part of another kind",
    ),
}


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return lists and objects with the names that messages have."""
    names = st.sampled_from(
        [
            "role",
            "type",
            "content",
            "text",
            "image_url",
            "source",
            "data",
            "kwargs",
            "id",
            "file",
            "tool_calls",
        ]
    )
    return st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4)


@pytest.mark.parametrize(("messages", "note"), ODD.values(), ids=ODD)
async def test_an_odd_message_closes_no_conversation(
    client: httpx.AsyncClient, messages: list[dict[str, Any]], note: str
) -> None:
    reply = await client.post(
        "/v1/chat/completions", json={"model": "agent", "messages": messages, "stream": None}
    )
    text = reply.json()["choices"][0]["message"]["content"]
    assert reply.status_code == 200 and "Sources:" in text
    assert note in text


@pytest.mark.parametrize("path", ["/langserve/agent/invoke", "/api/ask"])
@pytest.mark.parametrize(("messages", "note"), ODD.values(), ids=ODD)
async def test_other_doors_read_the_same_messages(
    client: httpx.AsyncClient, path: str, messages: list[dict[str, Any]], note: str
) -> None:
    sent = {"messages": messages} if path == "/api/ask" else {"input": {"messages": messages}}
    reply = await client.post(path, json=sent)
    assert reply.status_code in (200, 202), reply.text
    told = reply.text
    if path == "/api/ask":
        told = (await client.get(f"/api/runs/{reply.json()['run']}/events")).text
    assert "3 October 1874" in told and note in told


SAME: dict[str, Any] = {
    "a pair": ["human", QUESTION],
    "a text": QUESTION,
    "a role in capitals": {"role": "User", "content": QUESTION},
    "a type": {"type": "human", "content": QUESTION},
    "stored by LangChain": {"type": "human", "data": {"content": QUESTION, "type": "human"}},
    "stored by LangChain, by its class": {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain_core", "messages", "HumanMessage"],
        "kwargs": {"content": QUESTION},
    },
    "a part alone": {"role": "user", "content": {"type": "text", "text": QUESTION}},
    "parts without a type": {"role": "user", "content": [{"text": QUESTION}]},
    "a chunk": {"type": "HumanMessageChunk", "content": QUESTION},
}


@pytest.mark.parametrize("message", SAME.values(), ids=SAME)
async def test_a_message_in_any_form_is_read_without_a_note(client: httpx.AsyncClient, message: Any) -> None:
    reply = await client.post("/v1/chat/completions", json={"model": "agent", "messages": [message]})
    text = reply.json()["choices"][0]["message"]["content"]
    assert "3 October 1874" in text.replace("**", "") and "Not used" not in text


@given(st.recursive(st.none() | st.integers() | st.text(max_size=9), _nested, max_leaves=9))
def test_no_json_stops_the_reading_of_messages(sent: Any) -> None:
    message = read_message(sent)
    read_content(message.content)
    chore([sent])


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
    told = chore([OPEN_WEBUI.format(task="Generate it.", form=form)])
    assert told is not None and json.loads(told) == reply


TALK = "User: When was the lamp first lit?\nAI: On 3 October 1874."
SPOKEN = '[{"role": "user", "mainText": "灯塔何时点亮？"}, {"role": "assistant", "mainText": "1874年"}]'
TITLES: dict[str, list[tuple[str, str]]] = {
    "before a conversation": [("user", f"Provide a concise, 5-word-or-less title.\n\nConversation:\n{TALK}")],
    "in German": [("user", f"Gib einen Titel mit höchstens fünf Wörtern an.\n\nGespräch:\n{TALK}")],
    "with signs before the roles": [
        ("user", 'Generate a title.\n\n||>User:\n"When was it?"\n||>Response:\n"In 1874."\n\n||>Title:')
    ],
    "in Chinese, in two messages": [
        ("system", "你需要将用户的会话总结为 10 个字以内的标题"),
        ("user", "user: 灯塔何时点亮？\nassistant: 1874年。\n\n请总结上述对话为10个字以内的标题"),
    ],
    "in a block of code": [
        ("user", f"Name this conversation.\n\n```\n{TALK}\n```\n\nAt most 10 characters.")
    ],
    "as JSON": [("system", "Fasse das Gespräch in einem Titel zusammen."), ("user", SPOKEN)],
}


@pytest.mark.parametrize("messages", TITLES.values(), ids=TITLES)
def test_a_title_is_the_first_question_in_the_templates_of_many_apps(messages: list[tuple[str, str]]) -> None:
    title = chore(messages)
    assert title in ("When was the lamp first lit?", "When was it?", "灯塔何时点亮？")


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses"])
@pytest.mark.parametrize("stream", [False, True])
async def test_such_a_request_makes_no_run(client: httpx.AsyncClient, path: str, stream: bool) -> None:
    asked = {"role": "user", "content": OPEN_WEBUI.format(task="Title.", form='{ "title": "..." }')}
    name = "input" if path.endswith("responses") else "messages"
    reply = await client.post(path, json={"model": "agent", name: [asked], "stream": stream})
    assert reply.status_code == 200 and "When was the lamp first lit?" in reply.text
    assert "Sources" not in reply.text and "Note:" not in reply.text


@pytest.mark.parametrize(
    "text",
    [
        QUESTION,
        'What does { "title": "x" } mean?',
        "<chat_history>USER: a</chat_history>",
        TALK,
        f"{TALK}\nUser: Tell me who lit it.",
        f"{TALK}\nUser: And who lit it?\nAI:",
        f"What is wrong in this?\n\n{TALK}",
        f"{TALK}\n\nWhat is wrong in this?",
        "Summarise this.\n\nAnna: I come.\nBen: I do not.",
        "Explain this configuration.\n\nuser: postgres\nmodel: small",
    ],
)
def test_a_question_is_no_such_request(text: str) -> None:
    assert chore([text]) is None


def test_the_question_is_taken_out_of_the_template_around_files() -> None:
    sources = '### Task:\nRespond.\n<context>\n<source id="1" name="a.md">The lamp.</source>\n</context>\n\n'
    for framed in (f"{sources}<user_query>\n{QUESTION}\n</user_query>", f"{sources}{QUESTION}"):
        assert question_in(framed) == QUESTION
    assert question_in(QUESTION) == QUESTION
