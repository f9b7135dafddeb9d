"""Ask the reader for consent to a web search, and show the exact query."""

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
"""Number of characters of a reply to quote in a note."""
_YES = frozenset(
    """yes y yeah yep true ok okay sure 1 on allow allowed accept accepted approve approved agree
    agreed grant granted confirm confirmed continue proceed go consent ja jo jawohl genehmigt
    erlaubt einverstanden oui d'accord accepter si sí claro vale sì certo sim tak ano áno igen
    da да так evet tamam naam نعم כן بله हाँ हां 是 是的 好 好的 同意 可以 批准 允许 はい 承認 許可 네 예 승인 có vâng
    ya setuju kyllä joo ναι""".split()
)
_NO = frozenset(
    """no n nope false 0 off never deny denied decline declined reject rejected refuse refused ignore
    cancel stop respond nein nee non não nie ne nem nu нет ні hayır لا לא نه नहीं 不 不是 不行 否 拒绝
    いいえ 拒否 아니 아니요 không tidak ei όχι nej nei""".split()
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
"""Members of a reply that can have the yes or no, in the forms of clients and of LangChain."""


def agreed(reply: Any) -> bool | None:
    """Return whether a reply is yes in a common word or form; None if it is neither yes nor no."""
    if isinstance(reply, bool) or reply is None:
        return bool(reply)
    if isinstance(reply, dict) and isinstance(reply.get("decisions"), list):
        reply = reply["decisions"]
    if isinstance(reply, list):
        replies = list(map(agreed, reply))
        return None if not replies or None in replies else all(replies)
    if isinstance(reply, dict):
        return _agreed_member(reply)
    word = str(reply).strip().strip(".!。！").casefold()
    if word in _YES:
        return True
    return False if word in _NO else None


def _agreed_member(reply: dict[Any, Any]) -> bool | None:
    """Return the first yes or no among the known members of a reply, or None."""
    for name in _MEMBERS:
        if reply.get(name) is None:
            continue
        found = agreed(reply[name])
        if found is not None:
            return found
    return None


async def ask(
    run: NodeRun, question: str, provider: str
) -> tuple[Consent, Outcome[str] | None, list[NodeUsage]]:
    """Ask for consent to a web search.

    Returns:
        The consent, the query that the reader saw, and the usage of its writing. Without a reader, there is
        no query and no usage.
    """
    if run.context.web == "auto":
        return "granted", None, []
    if not get_config().get("configurable", {}).get("__pregel_checkpointer"):
        return "unavailable", None, []

    # LangGraph stores the result of a task. So the query that was shown is the query that is sent, no matter
    # which process resumes the run.
    @task
    async def web_query() -> dict[str, Any]:
        notes = len(run.notes)
        made = await query_for_web(run, question)
        spent = list(map(asdict, run.meter.take(run.node)))
        return {**asdict(made), "notes": run.notes[notes:], "spent": spent}

    kept = await web_query()
    shown = one_line(kept["value"], MAX_QUERY)
    run.notes += kept["notes"]
    written = Outcome(shown, kept["by"], Fallback(**kept["fallback"]) if kept["fallback"] else None)
    reply = interrupt({"type": "consent", "action": "search_web", "query": shown, "provider": provider})
    yes = agreed(reply)
    if yes is None:
        quoted = repr(one_line(str(reply), _QUOTED))
        run.note(f"The reply {quoted} to the question for consent is neither yes nor no: no.")
    usage = list(map(NodeUsage.model_validate, kept["spent"]))
    return "granted" if yes else "refused", written, usage
