"""A response goes on from an earlier one by its id, for its caller alone, as long as it is held in memory."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from langchain_core.messages import HumanMessage

from ragweave.corpora.store.library import open_library
from ragweave.serve import remembered
from ragweave.serve.remembered import EarlierTurns, RememberedResponses
from ragweave.tests.serve.conftest import QUESTION
from ragweave.tests.support.serving import bearer

KILN = base64.b64encode(b"# The kiln\n\nThe kiln of Rook was fired in 1911 by Rosa.\n").decode()
WITH_FILE = [
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "Tell me about the ferry."},
            {"type": "input_file", "filename": "kiln.md", "file_data": KILN},
        ],
    }
]


async def respond(client: httpx.AsyncClient, input: Any, key: str = "", **more: Any) -> tuple[str, str]:
    """Return the id and the text of a response."""
    sent = {"model": "agent", "input": input, **more}
    reply = await client.post("/v1/responses", json=sent, headers=bearer(key) if key else {})
    assert reply.status_code == 200, reply.text
    body = reply.json()
    return body["id"], body["output"][0]["content"][0]["text"].replace("**", "")


async def test_a_follow_up_by_id_is_understood_and_asks_the_file_of_the_earlier_turn(
    client: httpx.AsyncClient,
) -> None:
    first, _ = await respond(client, WITH_FILE)
    second, text = await respond(client, "How often does it sail?", previous_response_id=first)
    assert "four times" in text and "not held" not in text
    _, text = await respond(client, "Who fired the kiln of Rook?", previous_response_id=second)
    assert "fired in 1911 by Rosa" in text


@pytest.mark.parametrize(
    ("more", "note"),
    [
        ({"previous_response_id": "resp_1"}, "The response “resp_1” is not held here"),
        ({"conversation": {"id": "conv_1"}}, "Not stored here, and not used: conversation."),
        ({"prompt": {"id": "pmpt_1"}, "background": True}, "Not stored here, and not used: prompt."),
    ],
)
async def test_what_is_stored_elsewhere_is_left_out_with_a_note(
    client: httpx.AsyncClient, more: dict[str, Any], note: str
) -> None:
    _, text = await respond(client, QUESTION, **more)
    assert "3 October 1874" in text and note in text


async def test_a_response_is_not_held_for_another_key_nor_if_it_shall_not_be_stored(
    client: httpx.AsyncClient, notes: Path, app: FastAPI
) -> None:
    library = (await open_library("default")).id
    anna, ben = [app.state.keys.create(name, (library,))[1] for name in ("Anna", "Ben")]
    held, _ = await respond(client, QUESTION, anna)
    unheld, _ = await respond(client, QUESTION, anna, store=False)
    for id, key, known in ((held, anna, True), (held, ben, False), (unheld, anna, False)):
        _, text = await respond(client, QUESTION, key, previous_response_id=id)
        assert ("is not held here" not in text) == known


def test_the_last_turns_of_the_last_responses_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "THREADS", 2)
    responses = RememberedResponses()
    for id in ("1", "2", "3"):
        responses.add("anna", id, EarlierTurns([HumanMessage(id)] * 50))
    assert responses.earlier("anna", "1") is None
    held = responses.earlier("anna", "3")
    assert held is not None and len(held.messages) == 2 * remembered.TURNS
