from __future__ import annotations

from pathlib import Path

from langchain_core.messages import BaseMessage

from ragweave.components.context import Context
from ragweave.evals.corpus import prepare
from ragweave.evals.iteration import (
    IterationQuestion,
    control,
    trail,
)
from ragweave.graphs.auto_rag import graph
from ragweave.models.chat import override
from ragweave.tests.support import ScriptedChat

PASSAGES = [
    {
        "id": "Corvane",
        "title": "Corvane Observatory",
        "text": "Its telescope was built by the Ostrander Works in 1931.",
    },
    {"id": "Works", "title": "Ostrander Works", "text": "The firm was founded by Ada Ostrander in the town of Pell."},
    {"id": "Bread", "title": "Rye bread", "text": "Rye bread is baked from flour, water and salt."},
    {"id": "Tea", "title": "Green tea", "text": "Tea is picked in April and dried on bamboo."},
]


async def test_far_passage_is_found_and_kept_by_the_second_hop(tmp_path: Path) -> None:
    prepared = await prepare(PASSAGES, "tiny", tmp_path)
    asked = IterationQuestion(
        "Who founded the firm that built the telescope of the Corvane Observatory?", ("Corvane", "Works"), "b"
    )
    context = Context(library=prepared.library.name, mode="llm", top_k=1, max_hops=2, check_by="off")

    def reads(messages: list[BaseMessage]) -> str:
        read = "\n".join(m.text for m in messages)
        if "Ada Ostrander" in read:
            return "Final Answer: Ada Ostrander founded the Ostrander Works [1]."
        return "Query: Ostrander Works founded by" if "1931" in read else f"Query: {asked.text}"

    with override(writer=ScriptedChat(react=reads)):
        run = await trail(prepared, asked, context, graph)
    assert [h["n"] for h in run.hops] == [1, 2]
    assert set(run.ranked[0]) == {"Corvane"}
    assert set(run.ranked[1]) == {"Corvane", "Works"}
    assert run.names_bridge
    assert "Ada Ostrander" in run.answer
    alone = context.model_copy(update={"mode": "extractive"})
    assert (await control(prepared, asked, alone, graph))[0] == "Corvane"
