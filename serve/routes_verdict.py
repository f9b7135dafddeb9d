"""What readers think of answers: kept with the turn, and sent as questions for an evaluation."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter, Response
from pydantic import Field, StrictBool

from ragweave.serve.access import CallerNow, NamedLibrary
from ragweave.serve.app_state import AppStateNow, Body
from ragweave.serve.routes_ask import Ordinal, ThreadOfId
from ragweave.serve.store import ConversationTurn, NoSuchTurn, now

router = APIRouter(prefix="/api")


class VerdictBody(Body):
    """What a reader thinks of an answer; nothing takes back what was said."""

    good: StrictBool | None
    reason: str = Field("", max_length=2_000)


@router.put("/threads/{id}/turns/{n}/verdict", status_code=204)
def judge(app_state: AppStateNow, found: ThreadOfId, n: Ordinal, body: VerdictBody) -> None:
    """Keep whether an answer was good, and why."""
    said = None if body.good is None else {"good": body.good, "reason": body.reason.strip(), "at": now()}
    if not app_state.store.judge(found[0].id, n, said):
        raise NoSuchTurn


@router.get("/verdicts")
def verdicts(caller: CallerNow, app_state: AppStateNow, row: NamedLibrary) -> Response:
    """Send what was judged of a library's answers as questions that `ragweave eval answers` reads, JSON Lines.

    The sentences of a good answer are gold; those of a bad one must not be said again.
    """
    found = app_state.store.judged(caller.id, row.id)
    lines = [json.dumps(question_of(thread, turn), ensure_ascii=False) + "\n" for thread, turn in found]
    named = {"Content-Disposition": 'attachment; filename="questions.jsonl"'}
    return Response("".join(lines), media_type="application/x-ndjson; charset=utf-8", headers=named)


def question_of(thread: str, turn: ConversationTurn) -> dict[str, Any]:
    """Return a judged turn as a question with what its answer should say, or should not."""
    answer, verdict = turn.answer or {}, turn.verdict or {}
    told = [s["text"] for s in answer.get("sentences", []) if s["support"] != "contradicted"]
    asked = {
        "id": f"{thread}-{turn.n}",
        "question": turn.question,
        "kind": "good" if verdict["good"] else "bad",
    }
    asked |= {"reason": verdict["reason"]} if verdict["reason"] else {}
    if not verdict["good"]:
        return asked | {"must_not_contain": told}
    if answer.get("abstained"):
        return asked | {"answerable": False}
    files = [c["locator"]["file"] for c in answer.get("citations", []) if c["locator"].get("file")]
    return asked | {"answers": told, "gold_files": list(dict.fromkeys(files))}
