"""The papers' own forms of asking for an answer: their order, and no numbers."""

from __future__ import annotations

from typing import Any

import pytest

from ragweave.app.api import astate
from ragweave.components.context import Context
from ragweave.components.generation_input import GenerationInput
from ragweave.components.published import answer_messages
from ragweave.models.chat import override
from ragweave.tests.support import ScriptedChat

TEXTS = {
    "mill.md": "# Mill\n\nThe mill of Leigo was burnt down by lightning in 1932.",
    "rook.md": "# Rook\n\nThe Rook was built in Tartu in 1801.",
}
QUESTION = "What burnt down the mill of Leigo?"


@pytest.mark.parametrize(
    ("preset", "order"),
    [
        ("universal-rag-paper", ["by lightning", f"Question: {QUESTION}", "Answer in"]),
        ("rag-fusion-paper", ["by lightning", "fire of Leigo", f"Original question: {QUESTION}"]),
        ("crag-paper", ["Knowledge: <<<", "by lightning", f"Question: {QUESTION}"]),
    ],
)
async def test_a_preset_shows_what_was_found_in_its_papers_order_and_the_answer_has_no_numbers(
    stock: Any, preset: str, order: list[str]
) -> None:
    stock(TEXTS)
    model = ScriptedChat(
        react=lambda m: "fire of Leigo\nmill fires" if "生成" in m[0].text else "Lightning did [1]."
    )
    with override(writer=model):
        context = Context(preset=preset, mode="llm", corpora=("paragraph",), grade_by="local")
        state = await astate(
            QUESTION, context=context, graph=context.preset.replace("-paper", "").replace("-", "_")
        )
    prompt = model.calls[-1].prompt
    places = [prompt.find(part) for part in order]
    assert -1 not in places and places == sorted(places) and "[1]" not in prompt
    answer = state["answer"]
    assert (
        answer.text == "Lightning did."
        and not answer.citations
        and answer.notes[0].startswith(f"As {preset}")
    )


def test_knowledge_of_library_and_web_is_recomposed_apart() -> None:
    def strip(n: int, origin: str) -> Any:
        return {
            "id": f"{n}",
            "evidence": f"{n}",
            "title": "",
            "text": f"fact {n}",
            "origin": origin,
            "score": n / 10,
        }

    rows = [[strip(1, "library")], [strip(2, "library")], [strip(3, "web")]]
    given = GenerationInput("Why?", [s for row in rows for s in row], {}, (), True)
    text = answer_messages("crag", given, rows, [], {}, "one sentence")[-1][1]
    assert text.startswith("Knowledge1: <<<\nfact 2; fact 1\n>>>\n[sep]\nKnowledge2: <<<\nfact 3\n>>>")
