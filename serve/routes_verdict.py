"""Store readers' verdicts on answers, and export them as questions for an evaluation."""

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
    """A reader's verdict on an answer; null for `good` removes the verdict."""

    good: StrictBool | None
    reason: str = Field("", max_length=2_000)


@router.put("/threads/{id}/turns/{n}/verdict", status_code=204)
def judge(app_state: AppStateNow, found: ThreadOfId, n: Ordinal, body: VerdictBody) -> None:
    """Store whether an answer was good, and why."""
    verdict = None
    if body.good is not None:
        verdict = {"good": body.good, "reason": body.reason.strip(), "at": now()}
    if not app_state.store.judge(found[0].id, n, verdict):
        raise NoSuchTurn


@router.get("/verdicts")
def verdicts(caller: CallerNow, app_state: AppStateNow, row: NamedLibrary) -> Response:
    """Return the answers of a library with a verdict as questions for `ragweave eval answers`, in JSON Lines.

    The sentences of a good answer are expected; those of a bad answer must not occur again.
    """
    found = app_state.store.judged(caller.id, row.id)
    lines = [json.dumps(question_of(thread, turn), ensure_ascii=False) + "\n" for thread, turn in found]
    named = {"Content-Disposition": 'attachment; filename="questions.jsonl"'}
    return Response("".join(lines), media_type="application/x-ndjson; charset=utf-8", headers=named)


def question_of(thread: str, turn: ConversationTurn) -> dict[str, Any]:
    """Return a turn with a verdict as a question, with the sentences that its answer should have or lack."""
    answer, verdict = turn.answer or {}, turn.verdict or {}
    sentences = []
    for sentence in answer.get("sentences", []):
        if sentence["support"] != "contradicted":
            sentences.append(sentence["text"])
    row: dict[str, Any] = {
        "id": f"{thread}-{turn.n}",
        "question": turn.question,
        "kind": "good" if verdict["good"] else "bad",
    }
    if verdict["reason"]:
        row["reason"] = verdict["reason"]
    if not verdict["good"]:
        return {**row, "must_not_contain": sentences}
    if answer.get("abstained"):
        return {**row, "answerable": False}
    files: list[str] = []
    for citation in answer.get("citations", []):
        file = citation["locator"].get("file")
        if file and file not in files:
            files.append(file)
    return {**row, "answers": sentences, "gold_files": files}
