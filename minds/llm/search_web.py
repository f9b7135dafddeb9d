"""Write a web query in one short call."""

from __future__ import annotations

from ragweave.minds.desk import Desk
from ragweave.minds.small.search_web import QUERY_LIMIT
from ragweave.prompts import load


async def web_query(desk: Desk, question: str) -> str | None:
    """Return what to type into a search engine, or None where the reply is something else."""
    reply = (await desk.text(load("search_web", question=question))).removeprefix("Query:").strip(" \"'")
    return reply if 0 < len(reply) <= QUERY_LIMIT and "\n" not in reply else None
