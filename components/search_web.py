"""Write the query for a web search by rule, or by a language model in one short call."""

from __future__ import annotations

from ragweave.components.ask import Outcome, first_of, model_of
from ragweave.components.run_context import RunContext
from ragweave.models.text import clip, content_terms, names
from ragweave.prompts import load

QUERY_LIMIT = 200
"""Characters that a query may have."""


async def query_for_web(run: RunContext, question: str) -> Outcome[str]:
    """Return the query for a search engine."""
    return await first_of(run, model_of(run.context), by_model, locally, question)


async def locally(run: RunContext, question: str) -> str:
    """Return the names of the question, then its other content words, as a person would type them."""
    named = names(question)
    inside = set(content_terms(" ".join(named)))
    rest = []
    for word in question.split():
        carried = set(content_terms(word))
        if carried and not carried <= inside:
            rest.append(word)
    return clip(" ".join([*named, *rest]) or question, QUERY_LIMIT).strip(" ?？")


async def by_model(run: RunContext, question: str) -> str | None:
    """Return the model's query, or None if its reply is something else.

    In the form of CRAG (section 4.5) the query is keywords.
    """
    prompt = "keywords" if run.context.method.form == "crag" else "search_web"
    reply = await run.text(load(prompt, question=question))
    query = reply.removeprefix("Query:").strip(" \"'")
    if not query or len(query) > QUERY_LIMIT or "\n" in query:
        return None
    return query
