"""The front page of a library: its newest documents, questions that a chat model writes, and what may be read next."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from ragweave.corpora.ingest.run import index
from ragweave.models.chat import override
from ragweave.models.errors import ModelError
from ragweave.tests.support import ScriptedChat

LIBRARY = Path(__file__).resolve().parents[2] / "examples" / "library"
DAYS = {f"note{n}.md": f"---\ndate: 2024-0{n}-01\n---\n# Note {n}\n\nNumber {n} of the notes.\n" for n in range(1, 9)}


async def test_the_newest_documents_stand_first_and_those_without_a_date_last(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    for name, text in {**dict(list(DAYS.items())[:3]), "undated.txt": "A note of no day.\n"}.items():
        (tmp_path / name).write_text(text)
    await index([tmp_path], "days")
    told = (await client.get("/api/overview", params={"library": "days"})).json()
    assert [row["date"] for row in told["documents"]] == ["2024-03-01", "2024-02-01", "2024-01-01", ""]
    assert told["documents"][0]["title"] == "Note 3" and told["questions"] == []
    opened = await client.get(f"/api/sources/{told['documents'][0]['source']}", params={"library": "days"})
    assert opened.status_code == 200


async def test_of_many_documents_six_are_named(client: httpx.AsyncClient, tmp_path: Path) -> None:
    for name, text in DAYS.items():
        (tmp_path / name).write_text(text)
    await index([tmp_path], "days")
    told = (await client.get("/api/overview", params={"library": "days"})).json()
    assert [row["title"] for row in told["documents"]] == [f"Note {n}" for n in (8, 7, 6, 5, 4, 3)]


async def test_what_comes_next_are_the_sections_after_the_one_where_the_answer_stood(client: httpx.AsyncClient) -> None:
    await index([LIBRARY / "lighthouse.md"], "island")
    hits = (await client.post("/tools/search", json={"query": "When was the lamp lit?", "library": "island"})).json()
    lamp = next(row for row in hits if "1874" in row["text"])
    told = (await client.get("/api/next", params={"library": "island", "item": f"{lamp['id']}#0"})).json()
    assert [row["locator"]["heading"][-1] for row in told["places"]][:2] == ["Keepers", "The lamp today"]
    nothing = (await client.get("/api/next", params={"library": "island", "item": "nothing"})).json()
    assert nothing == {"places": []}


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
    with override(writer=(model := ScriptedChat(react=_reply))):
        for _ in range(2):
            told = (await client.post("/api/overview/questions", json={"library": "island"})).json()
    assert len(model.calls) == 1 and told["by"] == "scripted" and told["spent"]["calls"] == 1
    (first,) = told["questions"]
    assert (first["question"], first["quote"]) == ("How high is the tower of Skerry Holm?", TALL)
    item = (await client.get(first["open"]["item"])).json()
    assert item["text"][slice(*first["open"]["chars"])] == TALL
    assert (await client.get("/api/overview?library=island")).json() == told
    (tmp_path / "new.md").write_text("# New\n\nThe new mast is 40 metres tall.\n")
    await index([tmp_path], "island")
    after = (await client.get("/api/overview?library=island")).json()
    assert "by" not in after and after["questions"] == []


@pytest.mark.parametrize("reply", ["I cannot do that.", '{"questions": []}', ModelError("it refused", "ask another")])
async def test_where_the_model_writes_nothing_that_can_be_used_that_is_said_and_the_page_stays(
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
