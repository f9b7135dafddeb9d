"""Questions that wait for their answer: asked again when the library has changed, and nobody else's."""

from __future__ import annotations

from pathlib import Path

import httpx
from fastapi import FastAPI

from ragweave.corpora.ingest.run import index
from ragweave.tests.support.serving import bearer

BEES = "Who keeps the bees of the monastery?"


async def test_what_was_not_known_is_known_after_a_source_came(client: httpx.AsyncClient, tmp_path: Path) -> None:
    made = await client.post("/api/watches", json={"question": BEES, "library": "default"})
    assert made.status_code == 201
    (row,) = (await client.get("/api/watches?library=default")).json()["watches"]
    assert row["question"] == BEES and row["known"] is None
    note = tmp_path / "bees.md"
    note.write_text("# Bees\n\nThe bees of the monastery are kept by Brother Anselm.\n")
    await index([note], "default")
    (row,) = (await client.get("/api/watches?library=default")).json()["watches"]
    assert "Brother Anselm" in row["known"]
    assert (await client.delete(f"/api/watches/{row['id']}")).status_code == 204
    assert (await client.get("/api/watches?library=default")).json()["watches"] == []


async def test_a_question_is_watched_once_and_an_empty_one_not_at_all(client: httpx.AsyncClient) -> None:
    one, again = [await client.post("/api/watches", json={"question": BEES, "library": "default"}) for _ in range(2)]
    assert one.json() == again.json()
    assert len((await client.get("/api/watches?library=default")).json()["watches"]) == 1
    assert (await client.post("/api/watches", json={"question": " ", "library": "default"})).status_code == 400
    many = [
        client.post("/api/watches", json={"question": f"Who is number {n}?", "library": "default"}) for n in range(20)
    ]
    assert [(await one).status_code for one in many][-1] == 409


async def test_another_key_sees_no_watched_question_and_a_deleted_library_leaves_none(
    app: FastAPI, client: httpx.AsyncClient
) -> None:
    rows = (await client.get("/api/libraries")).json()["libraries"]
    (mine,) = [row["id"] for row in rows if row["name"] == "default"]
    made = (await client.post("/api/watches", json={"question": BEES, "library": "default"})).json()
    _, guest = app.state.keys.create("guest", (mine,))
    _, owner = app.state.keys.create("owner", None)
    seen = await client.get("/api/watches?library=default", headers=bearer(guest))
    assert seen.json()["watches"] == []
    assert (await client.delete(f"/api/watches/{made['id']}", headers=bearer(guest))).status_code == 404
    assert (await client.get("/api/watches?library=tea+room", headers=bearer(guest))).status_code == 404
    assert (await client.delete(f"/api/libraries/{mine}", headers=bearer(owner))).status_code == 204
    assert (await client.delete(f"/api/watches/{made['id']}", headers=bearer(owner))).status_code == 404
