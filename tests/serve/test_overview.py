"""The front page of a library: dates and questions, each from a sentence that stands in it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.types import Item
from ragweave.models.chat import override
from ragweave.models.errors import ModelError
from ragweave.serve.facts import facts
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.serving import ask_over_http

LIBRARY = Path(__file__).resolve().parents[2] / "examples" / "library"


def _item(text: str) -> Item:
    return Item(id="i", corpus="paragraph", source="s", title="T", text=text, locator={"kind": "heading"})


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("The lamp was first lit on 3 October 1874 and burned oil.", "When was the lamp first lit?"),
        ("The workshop is led by Halvard Stroud, who came in 2014.", "Who is the workshop led by?"),
        ("The museum owns 614 clocks and shows a third of them.", "How many clocks does the museum own?"),
        ("The hall had three glass doors at that time.", "How many glass doors did the hall have?"),
        ("A guided tour costs 4 euros on top of the ticket.", "What does a guided tour cost?"),
        ("The lighthouse stands on the western cape.", "Where does the lighthouse stand?"),
        ("It was built in 1961 by the Ravnholt shipyard.", ""),
        ("The tower that was built in 1961 was painted in 1970.", ""),
        ("The Romans achieved this approximation by declaring years to have 365 days.", ""),
        ("A page from the museum explains why the week has 7 days.", ""),
        ("Nobody knows how many clocks there are in it.", ""),
        ("Everything before this had four arrows and a name.", ""),
    ],
)
def test_a_sentence_becomes_a_question_where_its_form_allows_it(said: str, question: str) -> None:
    found = list(facts([_item(said)]))
    assert [f.question for f in found if f.question] == ([question] if question else [])
    assert all(f.text == said for f in found)


@pytest.mark.parametrize(
    ("said", "when", "precise"),
    [
        ("The lamp was lit on 3 October 1874 at night.", "1874-10-03", "day"),
        ("The work begins in May 2025 after the tides.", "2025-05-01", "month"),
        ("The work begins in 2025-05 after the tides.", "2025-05-01", "month"),
        ("He was born in Stavelhurst in 1743 in winter.", "1743-01-01", "year"),
        ("There were 2,310 nests on the 1743 rocks there.", "", ""),
    ],
)
def test_a_date_is_told_as_precisely_as_it_stands_there(said: str, when: str, precise: str) -> None:
    told = [(str(f.when), f.precise) for f in facts([_item(said)]) if f.when]
    assert told == ([(when, precise)] if when else [])


async def test_every_line_of_the_front_page_stands_in_the_library_and_every_question_is_answered_from_its_place(
    client: httpx.AsyncClient,
) -> None:
    await index([LIBRARY], "island")
    told = (await client.get("/api/overview", params={"library": "island"})).json()
    assert [row["date"] for row in told["timeline"]] == sorted(row["date"] for row in told["timeline"])
    assert {"day", "month", "year", "document"} == {row["precise"] for row in told["timeline"]}
    lines = [row for row in [*told["timeline"], *told["questions"]] if "quote" in row]
    for row in lines:
        item = (await client.get(row["open"]["item"])).json()
        start, end = row["open"]["chars"]
        assert " ".join(item["text"][start:end].split()) == row["quote"]
    assert len(told["questions"]) >= 5
    for row in told["questions"]:
        answer = (await ask_over_http(client, row["question"], library="island"))[-2]["answer"]
        assert not answer["abstained"], row["question"]
        assert any(row["quote"] in c["quote"] or c["quote"] in row["quote"] for c in answer["citations"]), row
    assert (await client.get("/api/overview", params={"library": "island"})).json() == told


async def test_what_comes_next_is_neither_what_was_asked_nor_where_the_answer_stood(client: httpx.AsyncClient) -> None:
    await index([LIBRARY], "island")
    rows = (await client.get("/api/overview", params={"library": "island"})).json()["questions"]
    lamp = next(row for row in rows if "lamp" in row["question"])
    sent = {"library": "island", "item": f"{lamp['id']}#0", "asked": lamp["question"]}
    told = (await client.get("/api/next", params=sent)).json()
    assert lamp["question"] not in [row["question"] for row in told["questions"]] != []
    assert all(row["title"].startswith("The lighthouse") for row in told["questions"])
    assert [row["locator"]["heading"][-1] for row in told["places"]][:2] == ["Keepers", "The lamp today"]
    nothing = (await client.get("/api/next", params={"library": "island", "item": "nothing"})).json()
    assert nothing == {"questions": [], "places": []}


async def test_what_two_sources_say_otherwise_is_told_with_both_places_and_nothing_else_is(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    texts = {
        "statutes.md": "# Statutes\n\nThe housing cooperative was founded in 1982 by eleven households.\n",
        "history.md": "# History\n\nThe housing cooperative was founded on 4 June 1983 by eleven households.\n",
        "garden.md": "# Garden\n\nThe garden of the cooperative was planted in 1990 by the children.\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        await index([tmp_path / name], "default")
    (row,) = (await client.get("/api/overview?library=default")).json()["differing"]
    assert row["question"] == "When was the housing cooperative founded?"
    assert {place["locator"]["file"] for place in row["places"]} == {"statutes.md", "history.md"}
    assert all(place["open"]["view"] == "text" and "198" in place["quote"] for place in row["places"])


TALL = "The tower is 31 metres tall"


def _reply(messages: Any) -> str:
    """Write one good question, and three that cannot be used."""
    parts = re.findall(r"(\d+)\.\n<<<\n(.*?)\n>>>", str(messages[-1].content), re.S)
    at = next(int(n) for n, text in parts if TALL in text)
    rows = [
        {"passage": at, "question": "How high is the tower of Skerry Holm?", "answer": TALL},
        {"passage": at, "question": "Who painted the tower?", "answer": "The tower was painted by nobody."},
        {"passage": at, "question": "The tower is tall.", "answer": TALL},
        {"passage": 99, "question": "Is there more?", "answer": TALL},
    ]
    return "Here they are:\n" + json.dumps({"questions": rows})


async def test_a_chat_model_writes_questions_when_it_is_asked_to_each_with_its_sentence_once_for_a_library(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    await index([LIBRARY], "island")
    before = (await client.get("/api/overview?library=island")).json()
    with override(writer=(model := ScriptedChat(react=_reply))):
        for _ in range(2):
            told = (await client.post("/api/overview/questions", json={"library": "island"})).json()
    assert len(model.calls) == 1 and told["by"] == "scripted" and told["spent"]["calls"] == 1
    first, *rest = told["questions"]
    assert (first["question"], first["quote"]) == ("How high is the tower of Skerry Holm?", TALL)
    item = (await client.get(first["open"]["item"])).json()
    assert item["text"][slice(*first["open"]["chars"])] == TALL
    assert rest == [row for row in before["questions"] if row["id"] != first["id"]][:9]
    assert (await client.get("/api/overview?library=island")).json() == told
    (tmp_path / "new.md").write_text("# New\n\nThe new mast is 40 metres tall.\n")
    await index([tmp_path], "island")
    assert "by" not in (await client.get("/api/overview?library=island")).json()


@pytest.mark.parametrize("reply", ["I cannot do that.", '{"questions": []}', ModelError("it refused", "ask another")])
async def test_where_the_model_writes_nothing_that_can_be_used_that_is_said_and_the_questions_stay(
    client: httpx.AsyncClient, reply: Any
) -> None:
    await index([LIBRARY / "tides.md"], "tides")
    before = (await client.get("/api/overview?library=tides")).json()
    with override(writer=ScriptedChat(replies=[reply])):
        answer = await client.post("/api/overview/questions", json={"library": "tides"})
    assert answer.status_code >= 500 and answer.json()["title"] and answer.json()["code"] != "unexpected"
    assert (await client.get("/api/overview?library=tides")).json() == before


async def test_without_a_chat_model_that_is_said(client: httpx.AsyncClient) -> None:
    answer = await client.post("/api/overview/questions", json={"library": "default"})
    assert answer.status_code == 409 and "ragweave setup" in answer.json()["remedy"]


async def test_a_line_of_the_front_page_is_named_where_its_sentence_stands_in_the_source(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    (tmp_path / "long.txt").write_text(
        f"{'Brenn has a vault below the town hall. ' * 9}\n\nThe vault of Brenn was opened in 1955.\n"
    )
    (tmp_path / "late.txt").write_text(
        "Brenn is a town.\n\nIt has a vault.\n\nThe vault of Brenn was opened in 1957.\n"
    )
    for name in ("long.txt", "late.txt"):
        await index([tmp_path / name], "brenn")
    told = (await client.get("/api/overview?library=brenn")).json()
    lines = {row["quote"][-5:-1]: row for row in told["timeline"] if "quote" in row}
    assert {year: (row["locator"]["line"], row["open"]["line"]) for year, row in lines.items()} == {
        "1955": (3, 3),
        "1957": (5, 5),
    }
    assert (
        [row["locator"]["line"] for row in told["questions"]]
        == [lines[row["quote"][-5:-1]]["locator"]["line"] for row in told["questions"]]
        != []
    )
    ((one, other),) = [row["places"] for row in told["differing"]]
    assert {one["locator"]["line"], other["locator"]["line"]} == {3, 5}
