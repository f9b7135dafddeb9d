"""Files that come with a question are read under limits and asked with the library, for that conversation alone."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.models.chat import override
from ragweave.serve import attached
from ragweave.serve.chat_templates import files_in, question_in, without_inlined
from ragweave.serve.sent_file import files_of_app, sent_file
from ragweave.tests.serve.conftest import QUESTION
from ragweave.tests.support import ScriptedChat

KILN = "# The kiln\n\nThe kiln of Rook was fired in 1911 by Rosa.\n\n## Heat\n\nIt reached 1,200 degrees.\n"
WHO = "Who fired the kiln of Rook?"
BASE64 = base64.b64encode(KILN.encode()).decode()
PARTS: dict[str, dict[str, Any]] = {
    "OpenAI": {
        "type": "file",
        "file": {"filename": "kiln.md", "file_data": f"data:text/markdown;base64,{BASE64}"},
    },
    "OpenAI without a type": {"type": "file", "file": {"filename": "kiln.md", "file_data": BASE64}},
    "Responses": {
        "type": "input_file",
        "filename": "kiln.md",
        "file_data": f"data:text/markdown;base64,{BASE64}",
    },
    "LangChain": {
        "type": "file",
        "base64": BASE64,
        "mime_type": "text/markdown",
        "extras": {"filename": "kiln.md"},
    },
    "LangChain before 1.0": {
        "type": "file",
        "source_type": "base64",
        "data": BASE64,
        "mime_type": "text/plain",
    },
    "Anthropic": {
        "type": "document",
        "source": {"type": "base64", "media_type": "text/plain", "data": BASE64},
    },
    "Anthropic, as text": {"type": "document", "source": {"type": "text", "data": KILN}, "title": "kiln"},
    "AI SDK": {"type": "file", "data": BASE64, "mediaType": "text/plain", "filename": "kiln.txt"},
}
TEMPLATES = {
    "today": (
        '<context>\n<source id="1" name="kiln.pdf">The kiln of Rook was fired in 1911 by Rosa.</source>\n'
        "</context>"
    ),
    "with a closing gap": (
        '<context><source id="1" resource="x" name="kiln.pdf" >\n'
        "The kiln of Rook was fired in 1911 by Rosa.\n</source></context>"
    ),
    "of 0.5": (
        "<context>\n<source><source_id>kiln.pdf</source_id><source_context>The kiln of Rook was fired in 1911"
        " by Rosa.</source_context></source>\n</context>"
    ),
    "of somebody's own": "<context>\nThe kiln of Rook was fired in 1911 by Rosa.\n</context>",
}


async def said(client: httpx.AsyncClient, messages: list[dict[str, Any]], **more: Any) -> str:
    sent = {"model": "agent", "messages": messages, **more}
    reply = await client.post("/v1/chat/completions", json=sent)
    assert reply.status_code == 200, reply.text
    text: str = reply.json()["choices"][0]["message"]["content"]
    return text.replace("**", "")  # words of the question are set apart


def asked(text: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}, *parts]}


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
async def test_a_file_in_a_part_is_read_and_cited(client: httpx.AsyncClient, part: dict[str, Any]) -> None:
    text = await said(client, [asked(WHO, part)])
    assert "fired in 1911 by Rosa" in text and "1. " in text and "Not used" not in text and "/tmp" not in text


@pytest.mark.parametrize("role", ["user", "system"])
@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
async def test_files_in_the_template_of_a_chat_app_are_asked_and_the_question_alone_is_searched(
    client: httpx.AsyncClient, template: str, role: str
) -> None:
    framed = f"### Task:\nRespond to the user query with inline citations.\n{template}\n\n"
    both = [asked(f"{framed}<user_query>\n{WHO}\n</user_query>")]
    apart = [{"role": "system", "content": framed}, asked(WHO)]
    text = await said(client, both if role == "user" else apart)
    assert text.index("fired in 1911 by Rosa") < text.index("3 October 1874") and "Task" not in text


async def test_a_file_that_a_client_has_written_into_the_message_is_a_file(client: httpx.AsyncClient) -> None:
    file = f'-----BEGIN FILE id="a1" type="text/plain"-----\n{KILN}\n-----END FILE id="a1"-----'
    text = await said(client, [asked(WHO, {"type": "text", "text": file})])
    assert text.index("fired in 1911 by Rosa") < text.index("3 October 1874") and "FILE" not in text
    assert without_inlined("-----BEGIN FILE x") == ([], "-----BEGIN FILE x")


PASTED = {
    "elements in a part for the system": (
        f"{WHO}\n\n<!-- SYSTEM CONTEXT (NOT PART OF USER QUERY) -->\n<files_info>\n<hint>Refer to these.</hint>\n"
        f'<file id="1" name="kiln.md" type="text/markdown">{KILN * 200}</file>\n</files_info>\n'
        "<!-- END SYSTEM CONTEXT -->"
    ),
    "elements alone": f'<documents>\n<document name="kiln.md">{KILN}</document>\n</documents>\n{WHO}',
}


@pytest.mark.parametrize("text", PASTED.values(), ids=PASTED)
async def test_a_file_that_is_an_element_of_the_question_is_a_file(
    client: httpx.AsyncClient, text: str
) -> None:
    told = await said(client, [asked(text)])
    assert "fired in 1911 by Rosa" in told and "SYSTEM" not in told and "<" not in told
    assert without_inlined("What is <file>? And <file name=''>x</file>?")[0] == []


async def test_passages_in_brackets_in_the_instructions_are_a_file(client: httpx.AsyncClient) -> None:
    system = f"Answer politely.\nContext:\n    [CONTEXT 0]:\n{KILN}\n[END CONTEXT 0]\n\n"
    told = await said(client, [{"role": "system", "content": system}, asked(WHO)])
    assert "fired in 1911 by Rosa" in told


async def test_the_member_files_of_open_webui_is_read_whole_and_once(client: httpx.AsyncClient) -> None:
    row = {
        "type": "file",
        "id": "1",
        "name": "kiln.pdf",
        "file": {"filename": "kiln.pdf", "data": {"content": KILN}},
    }
    cut = TEMPLATES["today"]
    text = await said(client, [asked(f"{cut}\n\n{WHO}")], files=[row])
    assert "1,200 degrees" in text and text.count("fired in 1911") == 1


async def test_a_file_of_an_earlier_turn_is_asked_and_another_conversation_knows_nothing_of_it(
    client: httpx.AsyncClient,
) -> None:
    before = [asked(QUESTION, PARTS["OpenAI"]), {"role": "assistant", "content": "On 3 October 1874."}]
    assert "1911" in await said(client, [*before, asked(WHO)])
    assert "1911" not in await said(client, [asked(WHO)])
    found = await client.post("/search", json={"query": WHO})
    assert "1911" not in found.text


@pytest.mark.parametrize("name", ["OpenAI", "LangChain"])
async def test_langserve_reads_it_as_well(client: httpx.AsyncClient, name: str) -> None:
    sent = {"input": {"messages": [asked(WHO, PARTS[name])]}}
    told = (await client.post("/langserve/agent/invoke", json=sent)).json()["output"]
    assert told["citations"][0]["locator"]["file"] == "kiln.md" and "not looked at" not in "".join(
        told["notes"]
    )


async def test_langserve_says_what_it_cannot_read(client: httpx.AsyncClient) -> None:
    part = {"type": "file", "file": {}}
    told = await client.post("/langserve/agent/invoke", json={"input": {"messages": [asked(WHO, part)]}})
    assert "content was not sent" in "".join(told.json()["output"]["notes"])


async def test_the_library_is_asked_with_it(client: httpx.AsyncClient) -> None:
    text = await said(client, [asked(QUESTION, PARTS["OpenAI"])])
    assert text.index("3 October 1874") < text.index("fired in 1911")


async def test_a_model_is_shown_the_file_and_told_its_name(client: httpx.AsyncClient) -> None:
    model = ScriptedChat(react=lambda _: "Rosa fired it in 1911. [1]")
    with override(writer=model):
        text = await said(client, [asked("What does this file say?", PARTS["OpenAI"])])
    prompts = "\n".join(call.prompt for call in model.calls)
    assert "“kiln.md”" in prompts and "fired in 1911 by Rosa" in prompts and "1911" in text


ODD: dict[str, tuple[dict[str, Any], str]] = {
    "only a name": ({"type": "file", "file": {"filename": "a.md"}}, "content was not sent"),
    "an unknown id": ({"type": "file", "file": {"file_id": "file-1"}}, "no file 'file-1' is kept here"),
    "by address": ({"type": "input_file", "file_url": "http://127.0.0.1/x"}, "does not read the web"),
    "no Base64": ({"type": "file", "file": {"filename": "a.md", "file_data": "%%%"}}, "not Base64"),
    "a recording": (
        {
            "type": "file",
            "file": {
                "filename": "a.wav",
                "file_data": base64.b64encode(b"RIFF\x24\0\0\0WAVEfmt " + bytes(99)).decode(),
            },
        },
        "was not read",
    ),
    "a broken PDF": (
        {
            "type": "file",
            "file": {"filename": "a.pdf", "file_data": base64.b64encode(b"%PDF-1.7\n").decode()},
        },
        "was not read",
    ),
    "keys": ({"type": "file", "file": {"filename": "id_rsa", "file_data": BASE64}}, "never read"),
    "a path": ({"type": "file", "file": {"filename": "../../etc/passwd.md", "file_data": BASE64}}, ""),
}


@pytest.mark.parametrize(("part", "note"), ODD.values(), ids=ODD)
async def test_a_file_that_cannot_be_read_costs_a_note(
    client: httpx.AsyncClient, part: dict[str, Any], note: str
) -> None:
    text = await said(client, [asked(QUESTION, part)])
    assert "3 October 1874" in text and note in text and "/etc" not in text


async def test_what_is_left_out_of_many_or_long_files_is_told(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attached, "MOST_FILES", 1)
    monkeypatch.setattr(attached, "MOST_ITEMS", 1)
    text = await said(client, [asked(QUESTION, PARTS["OpenAI"], PARTS["Anthropic"])])
    assert "Only the last 1 of 2 files" in text and "only the first 1 of" in text


values = st.recursive(
    st.none() | st.booleans() | st.text(max_size=8), lambda v: st.lists(v, max_size=3), max_leaves=4
)
names = st.sampled_from(
    ["type", "file", "source", "data", "file_data", "filename", "base64", "text", "name", "extras"]
)


@given(st.dictionaries(names, values | st.dictionaries(names, values, max_size=4), max_size=6))
def test_no_part_of_a_message_stops_the_reading_of_parts(part: dict[str, Any]) -> None:
    sent_file({"type": "file", **part})
    sent_file(part)
    files_of_app([part, None])


tags = st.sampled_from([*'<>/"= x', "<context>", "</context>", "<source ", "</source>", 'name="a.md"'])


@given(st.lists(tags))
def test_no_template_stops_the_reading_of_a_question(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert all(file.name for file in files_in(text)) and isinstance(question_in(text), str)
