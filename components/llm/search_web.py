"""Write a web query in one short call."""

from __future__ import annotations

from ragweave.components.local.search_web import QUERY_LIMIT
from ragweave.components.run_context import RunContext
from ragweave.prompts import load


async def web_query(run: RunContext, question: str) -> str | None:
    """Return what to type into a search engine, or None where the reply is something else.

    In the form of CRAG (section 4.5) it is keywords.
    """
    prompt = "keywords" if run.context.method.form == "crag" else "search_web"
    reply = (await run.text(load(prompt, question=question))).removeprefix("Query:").strip(" \"'")
    return reply if 0 < len(reply) <= QUERY_LIMIT and "\n" not in reply else None
