"""Ask the reader whether the web may be searched, with the very query that would be sent."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from langgraph.config import get_config
from langgraph.func import task
from langgraph.types import interrupt

from ragweave.components.answer import NodeUsage
from ragweave.components.ask import Fallback, Outcome
from ragweave.components.search_web import query_for_web
from ragweave.corpora.web.plain import one_line
from ragweave.corpora.web.search import MAX_QUERY
from ragweave.nodes.run import NodeRun
from ragweave.nodes.state import Consent

_QUOTED = 40
"""Characters of a reply that are repeated."""
_YES = frozenset(
    """yes y yeah yep true ok okay sure 1 on allow allowed accept accepted approve approved agree agreed grant granted
    confirm confirmed continue proceed go consent ja jo jawohl genehmigt erlaubt einverstanden oui d'accord accepter
    si sí claro vale sì certo sim tak ano áno igen da да так evet tamam naam نعم כן بله हाँ हां 是 是的 好 好的 同意 可以
    批准 允许 はい 承認 許可 네 예 승인 có vâng ya setuju kyllä joo ναι""".split()
)
_NO = frozenset(
    """no n nope false 0 off never deny denied decline declined reject rejected refuse refused ignore cancel stop
    respond nein nee non não nie ne nem nu нет ні hayır لا לא نه नहीं 不 不是 不行 否 拒绝 いいえ 拒否
    아니 아니요 không tidak ei όχι nej nei""".split()
)
_MEMBERS = (
    "granted",
    "approved",
    "consent",
    "type",
    "decision",
    "action",
    "answer",
    "args",
    "value",
    "reply",
)
"""What clients call the member of a reply that says it; those of LangChain's own forms among them."""


def agreed(reply: Any) -> bool | None:
    """Return whether a reply says yes, in one of the usual words or forms; None where it says neither yes nor no."""
    if isinstance(reply, bool) or reply is None:
        return bool(reply)
    if isinstance(reply, dict) and isinstance(reply.get("decisions"), list):
        reply = reply["decisions"]
    if isinstance(reply, list):
        said = [agreed(one) for one in reply]
        return None if not said or None in said else all(said)
    if isinstance(reply, dict):
        named = [agreed(reply[name]) for name in _MEMBERS if reply.get(name) is not None]
        return next((one for one in named if one is not None), None)
    words = str(reply).strip().strip(".!。！").casefold()
    return True if words in _YES else False if words in _NO else None


async def ask(
    run: NodeRun, question: str, provider: str
) -> tuple[Consent, Outcome[str] | None, list[NodeUsage]]:
    """Return what the reader says, and the query that was shown, with what it cost, where there was a reader to ask."""
    if run.context.web == "auto":
        return "granted", None, []
    if not get_config().get("configurable", {}).get("__pregel_checkpointer"):
        return "unavailable", None, []

    # A task of LangGraph: what it returns is kept, and so what was shown is what is sent, whoever goes on
    # with the run.
    @task
    async def web_query() -> dict[str, Any]:
        said = len(run.notes)
        made = await query_for_web(run, question)
        spent = [asdict(row) for row in run.meter.take(run.node)]
        return {**asdict(made), "notes": run.notes[said:], "spent": spent}

    kept = await web_query()
    shown = one_line(kept["value"], MAX_QUERY)
    run.notes += kept["notes"]
    written = Outcome(shown, kept["by"], Fallback(**kept["fallback"]) if kept["fallback"] else None)
    reply = interrupt({"type": "consent", "action": "search_web", "query": shown, "provider": provider})
    yes = agreed(reply)
    if yes is None:
        run.note(
            f"The reply {one_line(str(reply), _QUOTED)!r} to the question for consent is neither yes nor"
            " no: no."
        )
    return "granted" if yes else "refused", written, [NodeUsage.model_validate(row) for row in kept["spent"]]
