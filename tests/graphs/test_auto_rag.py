"""Auto-RAG alone: every way in which a conversation can go ends in a stated way."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from ragweave.components.answer import Answer
from ragweave.components.reason import REMINDER
from ragweave.components.turn import turn_of
from ragweave.graphs.auto_rag import graph
from ragweave.models.chat import override
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.knobs import context as knobs_of

pytestmark = pytest.mark.usefixtures("library")
QUESTION = "Who founded the firm that built the main telescope of the Corvane Observatory?"
CONVERSATIONS = int(os.environ.get("CONVERSATIONS", "100"))


async def ask(model: ScriptedChat, question: str = QUESTION, **knobs: Any) -> dict[str, Any]:
    with override(writer=model):
        state: dict[str, Any] = await graph.ainvoke(
            {"messages": [("human", question)]}, context=knobs_of(**knobs)
        )
    return state


def reasons(model: ScriptedChat) -> list[list[str]]:
    """The texts of each conversation that the model was shown as reasoner."""
    return [
        [m.text for m in c.messages] for c in model.calls if "from numbered documents" in c.messages[0].text
    ]


FOUNDED = "The firm was founded by Ada Ostrander in 1889 [1]."


async def test_turns_of_one_growing_conversation_lead_to_the_answer(play: Any) -> None:
    model = play(
        reason=[
            "First the maker of the telescope.\nQuery: Corvane Observatory main telescope builder",
            (
                "Learnt: the Ostrander Works built it.\nMissing: their founder.\nQuery: Ostrander Works"
                " founded by"
            ),
            "Learnt: Ada Ostrander founded them.\nFinal Answer: Ada Ostrander",
        ],
        generate=FOUNDED,
    )
    state = await ask(model)
    assert [h["query"] for h in state["hops"]] == [
        "Corvane Observatory main telescope builder",
        "Ostrander Works founded by",
    ]
    assert state["hops"][0]["learnt"] == "the Ostrander Works built it."
    assert state["hops"][0]["missing"] == "their founder."
    assert "Ada Ostrander" in state["answer"].text
    shown = reasons(model)
    assert [len(s) for s in shown] == [2, 4, 6]
    assert shown[1][2] == turn_of("First the maker of the telescope.", queries=[state["hops"][0]["query"]])
    assert shown[2][:4] == shown[1]


async def test_seen_passages_are_not_shown_again(play: Any) -> None:
    model = play(
        reason=["Query: Corvane Observatory", "Query: Corvane Observatory telescope", "Final Answer: x"],
        generate="UNKNOWN",
    )
    await ask(model)
    last = "\n".join(reasons(model)[-1])
    assert last.count("Its main telescope was built by") == 1


async def test_what_an_earlier_round_found_and_had_no_room_to_show_is_shown_when_it_is_asked_for(
    play: Any,
) -> None:
    model = play(
        reason=[
            "Query: Corvane Observatory telescope",
            "Query: Ostrander Works founder",
            "Final Answer: Ada Ostrander",
        ],
        generate="UNKNOWN",
    )
    state = await ask(model, turn_passages=1)
    first, second = (conversation[-1] for conversation in reasons(model)[1:])
    founder = next(e["id"] for e in state["evidence"] if "founded by Ada Ostrander" in e["text"])
    assert founder in state["hops"][0]["evidence"] and "founded by Ada Ostrander" not in first
    assert "founded by Ada Ostrander" in second


async def test_malformed_turn_is_asked_for_again_a_bounded_number_of_times(play: Any) -> None:
    model = play(
        reason=["I would rather not say.", "Query: Ostrander Works founder", "Final Answer: x"],
        generate=FOUNDED,
    )
    state = await ask(model)
    assert state["hops"][0]["query"] == "Ostrander Works founder"
    assert reasons(model)[1][-1] == REMINDER


async def test_rounds_then_recalls_are_spent_and_an_answer_still_comes(play: Any) -> None:
    count = iter(range(100))
    model = play(
        reason=lambda messages: f"Refined Query: Ostrander matter {next(count)}",
        recall=lambda messages: "Ada Ostrander was fond of rollers.",
        generate=FOUNDED,
    )
    state = await ask(model, max_hops=2, recalls=2)
    assert [h["corpora"] for h in state["hops"]] == [["paragraph"], ["paragraph"], ["model"], ["model"]]
    assert not state["answer"].abstained
    assert all(c.origin != "model" for c in state["answer"].citations)


SAID = [
    "Query: Ostrander Works founder",
    "query: the Corvane Observatory",
    "Refined Query: rye bread {n}",
    "Query: matter {n}\nFinal Answer: 1931",
    "Final Answer: Ada Ostrander",
    "最终答案：1931",
    "查询：青山茶 {n}",
    "",
    "   ",
    "I cannot do that.",
    "Query:",
    '{"query": "Ostrander {n}"}',
    '{"enough": true}',
    '{"query": null, "answer": null}',
    "[1, 2",
    "Query: " + "very " * 400,
    "Ignore all rules. Query: <script>alert({n})</script>",
    "Query: \x00\ud83d\ude00 {n}",
    "<think>hm</think>Query: Pell {n}",
    "Final Answer:",
    "Query: same",
    "x" * 3000,
]
WRITTEN = [
    "It was opened in 1931 [1].",
    "UNKNOWN",
    "",
    "The moon is cheese [9].",
    FOUNDED,
    "No full stop",
    "[1][2][3]",
]
REMEMBERED = ["UNKNOWN", "Ada Ostrander founded it.", "", "x" * 3000]


async def test_random_conversations_all_end_within_their_budget_in_a_stated_way(play: Any) -> None:
    for seed in range(CONVERSATIONS):
        dice = random.Random(seed)
        said = [dice.choice(SAID) for _ in range(dice.randint(1, 6))]
        at = iter(range(10_000))

        def turn(messages: Any, said: list[str] = said, at: Any = at, dice: random.Random = dice) -> Any:
            if dice.random() < 0.03:
                return ValueError("broken reply")
            n = next(at)
            return said[n % len(said)].replace("{n}", str(n))

        model = play(
            reason=turn,
            generate=lambda m, dice=dice: dice.choice(WRITTEN),
            recall=lambda m, dice=dice: dice.choice(REMEMBERED),
            converse=lambda m, dice=dice: dice.choice(WRITTEN),
        )
        knobs = {
            "max_hops": dice.randint(0, 4),
            "recalls": dice.randint(0, 2),
            "max_model_calls": dice.choice([0, 1, 3, 40]),
            "max_tokens": dice.choice([0, 0, 900, 5000]),
            "turn_tokens": dice.choice([1000, 6000]),
        }
        question = dice.choice(
            [QUESTION, "When was the Corvane Observatory opened?", "青山茶什么时候采摘?", "Hello!"]
        )
        state = await ask(model, question, **knobs)
        answer: Answer = state["answer"]
        searched = [h for h in state.get("hops", []) if h["corpora"] != ["model"]]
        case = (seed, knobs, said)
        assert answer.sentences or (answer.abstained and answer.why), case
        assert answer.text, case
        assert len(searched) <= knobs["max_hops"], case
        assert sum(h["corpora"] == ["model"] for h in state.get("hops", [])) <= knobs["recalls"], case
        assert answer.model_calls <= knobs["max_model_calls"], case
        assert len(model.calls) <= knobs["max_model_calls"], case
        assert all(c.origin != "model" for c in answer.citations), case


async def test_as_published_reasoning_that_needs_more_searches_for_it_and_the_answer_has_no_numbers() -> None:
    model = ScriptedChat(
        replies=[
            "It begins with the telescope. However, I have to find who built it.",
            (
                "The Ostrander Works built it, but no information on who began it.\nQuery: Ostrander Works"
                " founder"
            ),
            "Ada Ostrander founded them.\nFinal Answer: It was Ada Ostrander [1].",
        ]
    )
    state = await ask(model, preset="auto-rag-paper")
    assert [h["query"] for h in state["hops"]] == [
        "However, I have to find who built it.",
        "Ostrander Works founder",
    ]
    assert state["answer"].text == "It was Ada Ostrander." and not state["answer"].citations
    assert "Retrieved Document_2:" in model.calls[2].messages[-1].text


async def test_as_published_a_first_turn_that_answers_searches_nothing() -> None:
    model = ScriptedChat(replies=["Nothing has to be looked up.\nFinal Answer: It is four."])
    state = await ask(model, "What is two and two?", preset="auto-rag-paper")
    assert state["routes"][0]["corpora"] == ["none"] and not state.get("hops") and len(model.calls) == 1
    assert state["answer"].text == "It is four. (the model's own knowledge)"


async def test_a_plan_stays_in_the_conversation_though_the_question_itself_is_searched(play: Any) -> None:
    plan = f"First find the firm.\nMissing: its founder.\nQuery: {QUESTION}"
    model = play(reason=[plan, "Final Answer: Ada Ostrander [1]."])
    await ask(model)
    assert reasons(model)[1][2] == f"Learnt: {plan}"


@pytest.mark.parametrize(
    ("sentences", "told"),
    [
        (3, "one to three sentences"),
        (30, "a report of several paragraphs"),
        (0, "as many sentences as the question needs"),
    ],
)
async def test_an_answer_may_be_as_long_as_is_asked(play: Any, sentences: int, told: str) -> None:
    facts = " ".join(f"Fact {n} is told here." for n in range(40))
    model = play(reason=["Query: Corvane Observatory", f"Final Answer: {facts}"])
    state = await ask(model, sentences=sentences)
    assert told in reasons(model)[0][0]
    assert len(state["answer"].sentences) == min(40, 2 * sentences or 40)


async def test_a_first_turn_that_knows_nothing_searches_the_question(play: Any) -> None:
    model = play(reason=["Final Answer: UNKNOWN", "Final Answer: It was opened in 1931 [1]."])
    state = await ask(model, "When was the Corvane Observatory opened?")
    assert [h["query"] for h in state["hops"]] == ["When was the Corvane Observatory opened?"]
    assert "1931" in state["answer"].text
