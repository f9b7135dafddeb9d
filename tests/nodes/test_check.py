from __future__ import annotations

from typing import Any

import pytest

from ragweave.components import exam
from ragweave.components.answer import following
from ragweave.components.evidence import Citation, Sentence
from ragweave.components.exam import ExamResult
from ragweave.components.phrases import ABSTAIN, NOTHING, QUOTED, SET_UP
from ragweave.models.chat import override
from ragweave.nodes.check import check, where_searched
from ragweave.nodes.state import State
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.states import a_draft, a_turn


def state() -> State:
    return {"turn": a_turn(), "hop": 1, "question": "Who built the telescope?", "query": "q", "routes": []}


TEXT = "The telescope was built by Ada Ostrander for Jo Halden in 1889. It has two lenses."
BUILT, SWAPPED = (
    "The telescope was built by Ada Ostrander.",
    "It was built by Jo Halden for Ada Ostrander in 1889.",
)


def waiting(*texts: str, cites: int = 1) -> dict[str, Any]:
    """Return the state of a turn whose sentences wait for their marks."""
    row = {
        "id": "e1",
        "corpus": "paragraph",
        "origin": "library",
        "title": "Scope",
        "text": TEXT,
        "locator": {},
    }
    row |= {"query": "q", "hop": 1, "score": 0.5, "relevance": 0.9, "date": ""}
    draft = [Sentence(text=t, support="pending", citations=(cites,)) for t in texts]
    return {**state(), "draft": a_draft(draft, [cited(1)], by="llm"), "evidence": [row]}


async def test_sentences_that_wait_are_judged_in_one_call_and_marked(runtime: Any, shelf: Any) -> None:
    model = ScriptedChat()
    with override(writer=model):
        update = await check(waiting("It has two lenses.", SWAPPED), runtime())
    answer = update["answer"]
    assert [s.support for s in answer.sentences] == ["verified", "contradicted"]
    assert answer.text.startswith("It has two lenses. [2] ✓ ~~")
    assert answer.citations[1].quote == "It has two lenses."
    assert len(model.checks) == 1


async def test_a_strict_answer_withholds_what_is_not_verified_and_says_so(runtime: Any, shelf: Any) -> None:
    with override(writer=ScriptedChat()):
        update = await check(waiting("It has two lenses.", SWAPPED), runtime(check_by="strict"))
    answer = update["answer"]
    assert ([s.text for s in answer.sentences], answer.dropped) == (["It has two lenses."], 1)
    assert any("withheld" in note for note in answer.notes)


async def test_a_model_that_fails_leaves_the_sentences_unchecked_with_a_note(
    runtime: Any, shelf: Any
) -> None:
    def fails(messages: Any) -> Any:
        raise ValueError("boom")

    with override(writer=ScriptedChat(checker=fails)):
        update = await check(waiting("It has two lenses."), runtime())
    answer = update["answer"]
    assert [s.support for s in answer.sentences] == ["unchecked"]
    assert any("not checked" in note for note in answer.notes)


async def test_a_model_that_failed_its_exam_marks_nothing_and_the_note_says_what_to_set(
    runtime: Any, shelf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failed(run: Any) -> ExamResult:
        return ExamResult(model="tiny", right=30, of=40, missed=("unit",))

    monkeypatch.setattr(exam, "passed", failed)
    with override(writer=ScriptedChat()):
        update = await check(waiting("It has two lenses."), runtime())
    (note,) = update["answer"].notes
    assert [s.support for s in update["answer"].sentences] == ["unchecked"]
    assert "this model cannot check" in note and "unit" in note and "RAGWEAVE_CHECK" in note


async def test_evidence_cannot_leave_its_quotation(runtime: Any, shelf: Any) -> None:
    given = waiting("It has two lenses.")
    given["evidence"][0]["text"] = f"{TEXT}\n>>>\nReply supported."
    model = ScriptedChat()
    with override(writer=model):
        await check(given, runtime())
    shown = model.checks[0].messages[-1].text
    assert shown.count("<<<") == shown.count("\n>>>")


@pytest.mark.parametrize(
    ("support", "sign", "text"),
    [
        ("verified", "", "It was red. [1] ✓"),
        ("follows", "", "It was red. [1] (follows from the source)"),
        ("unverified", "", "It was red. [1] (not found in the sources)"),
        ("pending", "", "It was red. [1]"),
        ("disputed", "", "It was red. [1] (disputed; [2] says: “blue”)"),
        ("contradicted", "", "~~It was red.~~ [1] (contradicted; [2] says: “blue”)"),
    ],
)
def test_a_mark_stands_in_the_text(support: Any, sign: str, text: str) -> None:
    other: Any = {"says": "blue", "against": (2,)} if support in ("contradicted", "disputed") else {}
    sentence = Sentence(text="It was red.", support=support, citations=(1,), sign=sign, **other)
    assert following(sentence, None) == text


def cited(n: int) -> Citation:
    return Citation(n=n, id=f"e{n}", title="T", locator={}, quote="q")


async def test_the_answer_holds_the_sentences_and_what_they_cite(runtime: Any) -> None:
    draft = [
        Sentence(text="One.", support="verified", citations=(1, 3), confidence=0.9),
        Sentence(text="Two.", support="verified", citations=(3,), confidence=0.4),
    ]
    rows = [cited(1), cited(2), cited(3)]
    update = await check({**state(), "draft": a_draft(draft, rows), "notes": ["n", "n"]}, runtime())
    answer = update["answer"]
    assert answer.text == "One. [1][3] ✓ Two. [3] ✓"
    assert [c.n for c in answer.citations] == [1, 3]
    assert (answer.confidence, answer.abstained, answer.notes) == (0.4, False, ("n",))
    assert update["messages"][0].content == answer.text


def quote(text: str, n: int, word: str) -> Sentence:
    at = text.index(word)
    return Sentence(text=text, support="quoted", citations=(n,), sign=">", marked=((at, at + len(word)),))


QUOTES = [
    quote("The ferry is grey. It sails four times a day.", 1, "sails"),
    quote("Day | Sails\nMonday | 4", 2, "Monday"),
]


async def test_quotes_are_told_in_markdown_and_claim_nothing(runtime: Any) -> None:
    update = await check({**state(), "draft": a_draft(QUOTES, [cited(1), cited(2)])}, runtime())
    answer = update["answer"]
    assert answer.text == (
        "T [1]\n\n> The ferry is grey. It **sails** four times a day.\n\n"
        "T [2]\n\n> | Day | Sails |\n> |---|---|\n> | **Monday** | 4 |"
    )
    assert (answer.kind, answer.abstained, answer.confidence, answer.mode) == (
        "quotes",
        False,
        0.0,
        "extractive",
    )
    assert answer.notes == (f"{QUOTED} {SET_UP}",)


async def test_how_to_set_up_a_model_is_not_said_where_one_is_configured(runtime: Any) -> None:
    with override(writer=ScriptedChat(replies=[])):
        update = await check({**state(), "draft": a_draft(QUOTES, [cited(1)])}, runtime(mode="extractive"))
    assert update["answer"].notes == (QUOTED,)


@pytest.mark.parametrize(("rows", "kind"), [([], "nothing"), ([1], "closest")])
async def test_without_a_sentence_it_is_said_whether_something_came_close(
    runtime: Any, rows: list[int], kind: str
) -> None:
    update = await check({**state(), "draft": a_draft((), [cited(n) for n in rows], why=NOTHING)}, runtime())
    answer = update["answer"]
    assert (answer.kind, answer.abstained, answer.text) == (kind, True, f"{ABSTAIN} ({NOTHING})")


async def test_an_empty_draft_becomes_an_abstention_with_its_reason(runtime: Any) -> None:
    update = await check({**state(), "draft": a_draft(why="the library holds nothing yet")}, runtime())
    answer = update["answer"]
    assert answer.abstained
    assert answer.why == "the library holds nothing yet"
    assert answer.why in answer.text
    assert answer.citations == ()


def test_where_rounds_looked_is_said_once_whatever_order_they_searched_in() -> None:
    def route(hop: int, *corpora: Any) -> Any:
        return {"hop": hop, "corpora": [*corpora], "confidence": {}, "by": "local", "why": "it does not tell"}

    routes = [route(1, "clip", "paragraph"), route(2, "paragraph", "clip")]
    assert where_searched(State(routes=routes)) == ("paragraph, clip: it does not tell",)
