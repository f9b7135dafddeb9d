"""Ask the reader whether the web may be searched, with the very query that would be sent."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from langgraph.config import get_config
from langgraph.func import task
from langgraph.types import interrupt

from ragweave.components.component import Fallback, Outcome
from ragweave.corpora.web.plain import one_line
from ragweave.corpora.web.search import MAX_QUERY
from ragweave.nodes.answer import NodeUsage
from ragweave.nodes.run import NodeRun
from ragweave.nodes.state import Consent


async def ask(run: NodeRun, question: str, provider: str) -> tuple[Consent, Outcome[str] | None, list[NodeUsage]]:
    """Return what the reader says, and the query that was shown, with what it cost, where there was a reader to ask."""
    if run.context.web == "auto":
        return "granted", None, []
    if not get_config().get("configurable", {}).get("__pregel_checkpointer"):
        return "unavailable", None, []

    # A task of LangGraph: what it returns is kept, and so what was shown is what is sent, whoever goes on with the run.
    @task
    async def web_query() -> dict[str, Any]:
        said = len(run.notes)
        made = await run.components.web_querist(run, question)
        spent = [asdict(row) for row in run.meter.take(run.node)]
        return {**asdict(made), "notes": run.notes[said:], "spent": spent}

    kept = await web_query()
    shown = one_line(kept["value"], MAX_QUERY)
    run.notes += kept["notes"]
    written = Outcome(shown, kept["by"], Fallback(**kept["fallback"]) if kept["fallback"] else None)
    reply = interrupt({"type": "consent", "action": "search_web", "query": shown, "provider": provider})
    agreed = reply.get("granted", reply.get("approved")) if isinstance(reply, dict) else reply
    yes = agreed is True or str(agreed).strip().lower() in {"yes", "y", "true", "ok"}
    return "granted" if yes else "refused", written, [NodeUsage.model_validate(row) for row in kept["spent"]]
