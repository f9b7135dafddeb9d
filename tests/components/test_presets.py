"""Presets and the settings of a run: what they set, what is published, what kinds there are."""

from __future__ import annotations

from typing import Any

import pytest

from ragweave.app.api import astate
from ragweave.components.context import Context
from ragweave.components.generation_input import GenerationInput
from ragweave.components.local.kinds import kinds_of, share_of
from ragweave.components.method import spelled
from ragweave.components.published import answer_messages
from ragweave.components.run_settings import run_settings
from ragweave.corpora.types import Item
from ragweave.models.chat import override
from ragweave.models.errors import InputError
from ragweave.tests.support import ScriptedChat


@pytest.mark.parametrize(
    ("written", "name"),
    [("crag", "crag-paper"), ("AutoRAG", "auto-rag-paper"), ("rag-fusion-seed", "rag-fusion-seed")],
)
def test_a_preset_is_found_by_the_name_of_its_paper(written: str, name: str) -> None:
    assert spelled(written) == name
    assert Context.model_validate({"preset": written}).preset == name


def test_knobs_of_the_environment_are_those_of_a_run_and_a_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_KNOBS", "web=ask corpora=clip,video graph=crag")
    assert run_settings().graph == "crag"
    assert run_settings().defaults == {"web": "ask", "corpora": ["clip", "video"]}


@pytest.mark.parametrize("value", ["web=sometimes", "rerank=false", "web"])
def test_a_knob_that_cannot_be_used_names_the_variable(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("RAGWEAVE_KNOBS", value)
    with pytest.raises(InputError, match="RAGWEAVE_KNOBS cannot be used"):
        run_settings()


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


ROWS = "Stop | Fare\nPell | 4\nTarn | 7\nHolme | 9"


def item(text: str = "The ferry sails at nine.", corpus: str = "paragraph", file: str = "notes.md") -> Item:
    return Item("1", corpus, "s", "Notes", text, {"kind": "file", "file": file})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("question", "kind", "own", "other"),
    [
        ("Which picture shows the bay at low tide?", "picture", item(corpus="image"), item()),
        ("Which table lists the fares?", "table", item(ROWS), item()),
        ("What does the slide about fares say?", "slide", item(file="talk.pptx"), item()),
    ],
)
def test_a_question_asks_for_a_kind_and_things_of_that_kind_have_a_share(
    question: str, kind: str, own: Item, other: Item
) -> None:
    kinds = kinds_of(question)
    assert kinds[kind] > 0.5  # type: ignore[index]
    assert share_of(own, kinds) > 0.5
    assert share_of(other, kinds) == 0.0


def test_a_question_for_a_fact_asks_for_no_kind() -> None:
    assert kinds_of("When was the ferry across the Pell built?") == {}
    assert share_of(item(ROWS), {}) == 0.0
