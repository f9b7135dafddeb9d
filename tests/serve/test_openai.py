"""What the OpenAI doors add to the contract of all doors, used with the real clients over a real socket."""

from __future__ import annotations

import asyncio
from itertools import chain
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import httpx
import openai
import pytest
from langgraph.checkpoint.base import empty_checkpoint
from openai import AsyncOpenAI

from ragweave.app.api import GRAPHS
from ragweave.components.markdown import as_markdown, in_markdown
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import postgres
from ragweave.corpora.store.locks import held
from ragweave.serve.chapters import chapters_of
from ragweave.serve.chat_completion import ChatCompletionWriter
from ragweave.serve.chat_request import ChatRequest, without_links
from ragweave.serve.conversations import forget_library, latest, of_the_server
from ragweave.serve.database import SCHEMA
from ragweave.serve.store import ConversationThread, Store, add_thread, now
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
        ({"text": {"format": "json"}}, 400, "Text.format"),
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


def quote(text: str, *words: str) -> dict[str, Any]:
    found = [(text.index(word), text.index(word) + len(word)) for word in words]
    return {"text": text, "marked": found}


def test_what_matches_is_bold_in_markdown_and_paragraphs_stay_apart() -> None:
    said = quote("It was old, and painted\nred.\n\nIt stands.", "old", "painted\nred", "stands")
    assert as_markdown(**said) == "> It was **old**, and **painted red**.\n>\n> It **stands**."


def test_rows_become_a_table_under_their_heads_if_any_and_words_in_cells_are_bold() -> None:
    said = quote("Prices.\nticket | adult\nsingle | 60 crowns\n\nten | 420 crowns", "single", "60")
    rows = ["> Prices.", ">", "> | ticket | adult |", "> |---|---|", "> | **single** | **60** crowns |"]
    assert as_markdown(**said).split("\n") == [*rows, "> | ten | 420 crowns |"]
    headless = quote("single | 60 crowns\nten | 420 crowns", "ten")
    assert as_markdown(**headless).startswith(
        "> |   |   |\n> |---|---|\n> | single | 60 crowns |\n> | **ten** |"
    )


def test_what_a_source_says_is_no_markup() -> None:
    said = quote("# One <b>big</b> [link](http://x) 1. `two` *three*", "big", "`two`")
    assert (
        as_markdown(**said)
        == "> \\# One \\<b>**big**\\</b> \\[link\\](http://x) 1. **\\`two\\`** \\*three\\*"
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("![x](http://evil) <b> `y` [z] 2*3*4", r"!\[x\](http://evil) \<b> \`y\` \[z\] 2\*3\*4"),
        (r"It is $\frac{a*b}{c[1]}$ [m].", r"It is $\frac{a*b}{c[1]}$ \[m\]."),
        ("$![x](http://evil)$ and $<img src=x>$", r"$!\[x\](http://evil)$ and $\<img src=x>$"),
    ],
)
def test_in_markdown_a_formula_stays_and_no_text_becomes_markup(text: str, told: str) -> None:
    assert in_markdown(text) == told


def _shown(start: float, end: float, *texts: str) -> list[dict[str, Any]]:
    return [{"start": start, "end": end, "text": text, "shown": True} for text in texts]


def test_each_slide_is_a_chapter_and_signs_or_titles_of_a_film_are_none() -> None:
    talk = [
        *_shown(0, 8, "An open dataset of pictures", "Otto Brandt, University of Ostvik"),
        {"start": 1.0, "end": 7.0, "text": "Welcome to my talk about the dataset."},
        *_shown(8, 30, "What it holds", "four hundred million pairs"),
        *_shown(30, 52, "What it holds", "four hundred million pairs", "filtered by similarity"),
        *_shown(52, 100, "Why we made it", "Empower independent researchers"),
    ]
    titles = ("An open dataset of pictures", "What it holds", "Why we made it")
    assert chapters_of(talk, 100) == [
        {"start": start, "end": end, "title": title}
        for title, start, end in zip(titles, (0, 8, 52), (8, 52, 100), strict=True)
    ]
    film = [
        *_shown(12, 14, "57"),
        *_shown(54, 56, "SOAP", "BUNNER"),
        *_shown(214, 218, "Music", "Sound Design by us"),
    ]
    assert chapters_of(film, 230) == [] == chapters_of(_shown(0, 60, "The harbour", "with its two moles"), 60)


def test_a_line_on_every_slide_names_the_first_chapter_alone() -> None:
    points = ["Pipes join programs", "Filters read lines", "A shell starts them"] * 3
    slides = [_shown(10 * n, 10 * n + 10, "The course", text, "of 2010") for n, text in enumerate(points)]
    assert [chapter["title"] for chapter in chapters_of(chain(*slides), 90)] == ["The course", *points[1:]]


@pytest.mark.both
async def test_a_deletion_of_a_library_that_is_cut_short_keeps_what_names_the_steps_that_are_left(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(home / "serve.sqlite")
    with store.writing() as db:
        for id in "ab":
            add_thread(db, ConversationThread(id, "owner", "old", "", now(), now()))
    async with of_the_server() as saver:
        for id in "abc":
            await saver.aput(
                {"configurable": {"thread_id": id, "checkpoint_ns": ""}}, empty_checkpoint(), {}, {}
            )
    with monkeypatch.context() as cut, pytest.raises(OSError, match="full"):
        cut.setattr(
            "ragweave.serve.conversations.of_the_server", Mock(side_effect=OSError("the disk is full"))
        )
        await forget_library(store, "old")
    assert {t.id for t in store.threads("owner")} == {"a", "b"}
    await forget_library(store, "old")
    async with of_the_server() as saver:
        assert (store.threads("owner"), set(await latest(saver, 10))) == ([], {"c"})
    store.close()


@pytest.mark.both
def test_what_was_written_of_a_library_outlives_the_server_until_the_library_changes_or_goes(
    home: Path,
) -> None:
    for summary in ("Mail of a choir.", "Mail and notes."):
        store = Store(home / "serve.sqlite")
        store.keep_overview("old", 3, {"summary": summary})
        store.close()
    store = Store(home / "serve.sqlite")
    assert (store.overview("old", 3), store.overview("old", 4)) == ({"summary": "Mail and notes."}, None)
    store.forget_library("old")
    assert store.overview("old", 3) is None
    store.close()


@pytest.mark.both
async def test_a_server_makes_its_tables_while_another_one_makes_those_of_the_conversations(
    home: Path,
) -> None:
    url = corpora_settings().database
    other = postgres.server(url).lock(SCHEMA, 0, print) if url else held(home, SCHEMA, 0, "Held by", "wait")
    with other:
        # An index that is made concurrently waits for every transaction: one that waited for this lock would
        # never end.
        store = await asyncio.wait_for(asyncio.to_thread(Store, home / "serve.sqlite"), 20)
    assert store.threads("owner") == []
    store.close()
