"""What a run learns between hops, with a model and without one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.components.ask_on import next_queries, open_words
from ragweave.components.context import Context
from ragweave.components.conversation import UNSURE, conversation
from ragweave.components.evidence import Strip
from ragweave.components.knowledge import Knowledge
from ragweave.components.reason import locally
from ragweave.components.rounds import Round, rounds
from ragweave.components.run_context import RunContext, TurnState
from ragweave.components.turn import read_turn
from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import Library, open_library
from ragweave.graphs.agent import graph
from ragweave.models.chat_reply import tokens_of
from ragweave.models.meter import Meter
from ragweave.tests.support.rows import strip


@pytest.mark.parametrize(
    ("reply", "queries", "enough"),
    [
        ("Query: founder of the mill", ["founder of the mill"], False),
        ("query: founder of the mill", ["founder of the mill"], False),
        ("Refined Query: founder of the mill", ["founder of the mill"], False),
        ("I must find who founded it. Query: founder of the mill", ["founder of the mill"], False),
        ("**Query:** “founder of the mill”", ["founder of the mill"], False),
        ("### QUERY：founder of the mill\nand some more prose", ["founder of the mill"], False),
        ("Query: first\nQuery: second", ["first", "second"], False),
        ("Query: founder of the mill [Dense]", ["founder of the mill"], False),
        ("查询：造纸厂的创始人", ["造纸厂的创始人"], False),
        ("Query: founder\nFinal Answer: Norway", [], True),
        ("Final Answer: Norway\nQuery: founder", [], True),
        ("So it was Norway.\nFINAL ANSWER: Norway", [], True),
        ("最终答案：挪威", [], True),
        ("Query: none", [], True),
        ("Learnt: x [1]. Missing: the price.\nQuery: not given", [], True),
        ('{"learnt": "x", "missing": "y", "query": "founder of the mill"}', ["founder of the mill"], False),
        ('{"learnt": "x", "enough": true, "query": "more"}', [], True),
        ('```json\n{"answer": "Norway", "query": null}\n```', [], True),
        ("It was Norway [2].", [], True),
        ("UNKNOWN. No document says where.", [], True),
        (
            "Learnt: x [3]. Missing: y.\nQuery: a\nQuery: b\nQuery: a\nQuery: c\nQuery: d",
            ["a", "b", "c"],
            False,
        ),
        ("<think>Query: a trap</think>Query: founder", ["founder"], False),
    ],
)
def test_turns_are_read_in_any_form(reply: str, queries: list[str], enough: bool) -> None:
    turn = read_turn(reply)
    assert turn is not None
    assert (turn.queries, turn.enough) == (queries, enough)


@pytest.mark.parametrize(
    "answer",
    [
        'The body is {"query": "tea", "limit": 5} [1]. It answers with ranked rows [2].',
        'The call returns {"answer": "text"} [1]. A missing library gives 404 [2].',
        'It is written as {"enough": true} in the file [1].',
        'It is\n```json\n{"query": "tea"}\n```',
        '{"query": "tea", "limit": 5}',
    ],
)
@pytest.mark.parametrize(
    "before",
    [
        "",
        'Learnt: the file has {"query": "salt"} [1].\n',
        'It has {"query": "salt"}. ',
        "Learnt: the set {a, b [1].\n",
    ],
)
def test_json_quoted_in_an_answer_is_part_of_it_and_not_the_turn(answer: str, before: str) -> None:
    turn = read_turn(f"{before}Final Answer: {answer}")
    assert turn is not None
    assert (turn.answer.rstrip("`\n"), turn.queries, turn.enough) == (answer.rstrip("`\n"), [], True)


@given(st.text())
def test_no_reply_breaks_the_reader(reply: str) -> None:
    turn = read_turn(reply)
    assert turn is None or turn.enough or turn.queries


def hop(n: int, query: str, evidence: list[str]) -> Any:
    row = {"n": n, "query": query, "evidence": evidence, "corpora": ["paragraph"]}
    return {**row, "learnt": f"l{n}", "missing": f"m{n}"}


def known(strips: list[Strip], *hops: Any) -> Knowledge:
    return Knowledge("q?", hops, strips=strips)


def test_passages_are_shown_once_and_numbered_through() -> None:
    strips = [strip("a", "A"), strip("b", "B"), strip("c", "C", hop=2)]
    made = rounds(known(strips, hop(1, "first", ["a", "b"]), hop(2, "second", ["b", "c"])), 5)
    assert [(r.query, [d[0] for d in r.documents]) for r in made] == [("first", [1, 2]), ("second", [3])]
    assert made[1].documents[0][2] == "C"
    assert (made[1].learnt, made[1].missing) == ("l1", "m1")


@pytest.mark.parametrize(("learnt", "action", "again"), [
    ("It is A [1].", "incorrect", False), ("It is A [1].", "correct", True), ("It is A.", "incorrect", True)
])  # fmt: skip
def test_after_a_round_that_brought_nothing_only_what_was_cited_is_sent_again(
    learnt: str, action: str, again: bool
) -> None:
    strips = [strip("a", "First text."), strip("b", "Second text."), strip("c", "Third text.", hop=2)]
    hops = ({**hop(1, "q?", ["a", "b"]), "learnt": learnt}, {**hop(2, "second", ["c"]), "action": action})
    sent = "\n".join(text for _, text in conversation("q?", rounds(known(strips, *hops), 5), 6000))
    assert "First text." in sent and "Third text." in sent
    assert ("Second text." in sent) == again and "[2] " in sent


BEES = "Ruta may keep two hives behind plot 31, to begin with for one season."


@pytest.mark.parametrize(
    ("of", "budget", "sent"),
    [
        ("/minutes.md", 6000, "Fees\n\nThey stay.\n\nBees\n\n[… as in [1]]"),
        ("/copy.md", 6000, f"Fees\n\nThey stay.\n\nBees\n\n{BEES}"),
        ("/minutes.md", 1, "Fees\n\nThey stay.\n\nBees\n\nRuta may keep"),
    ],
)
def test_a_document_refers_to_what_an_earlier_round_showed_of_it_while_that_stands_there(
    of: str, budget: int, sent: str
) -> None:
    strips = [strip("a", BEES), strip("b", f"Fees\n\nThey stay.\n\nBees\n\n{BEES}", hop=2)]
    rows: Any = [
        {"id": "a", "hop": 1, "corpus": "paragraph", "date": "", "locator": {"file": "/minutes.md"}},
        {"id": "b", "hop": 2, "corpus": "document", "date": "", "locator": {"file": of}},
    ]
    hops = (hop(1, "first", ["a"]), hop(2, "second", ["b"]))
    messages = conversation("q?", rounds(Knowledge("q?", hops, rows, strips), 5), budget)
    assert sent in messages[-1][1]


LONG = "word " * 300


@pytest.mark.parametrize("budget", [1500, 2500, 6000])
def test_conversation_keeps_to_its_tokens_and_folds_the_oldest_first(budget: int) -> None:
    made = [Round(f"q{n}", f"learnt {n}", "", ((n, f"T{n}", LONG),)) for n in range(1, 9)]
    messages = conversation("q?", made, budget)
    assert sum(tokens_of(text) for _, text in messages) <= budget
    sent = "\n".join(text for _, text in messages)
    assert all(f"[{n}] T{n}" in sent or f"[{n}]\n<<<\nT{n}" in sent for n in range(1, 9))
    assert all(f"learnt {n}" in sent for n in range(1, 9))
    users = [text for role, text in messages if role == "user"][1:]
    folded = ["Read and summed up" in text for text in users]
    assert folded == sorted(folded, reverse=True)
    assert not folded[-1]


@pytest.mark.parametrize("answer", ["`notes index` reads a folder [1].", "Add `--watch`"])
def test_a_command_at_either_end_of_an_answer_keeps_its_signs(answer: str) -> None:
    turn = read_turn(f"Final Answer: {answer}")
    assert turn is not None and turn.answer == answer


@pytest.mark.parametrize("label", ["missing", "learnt", "learned"])
def test_a_word_in_the_middle_of_a_sentence_of_the_reasoning_stays_in_it(label: str) -> None:
    reasoning = f"Odo kept the inn. What is {label}: its island, and the cheese."
    turn = read_turn(f"{reasoning}\nQuery: The Blue Anchor island")
    assert turn is not None and turn.learnt == reasoning and turn.queries == ["The Blue Anchor island"]


@pytest.mark.parametrize(
    ("reply", "table", "statement"),
    [
        ("I need all.\nTable 3: SELECT sum(a) FROM t", "Table 3", "SELECT sum(a) FROM t"),
        ("**Table [2]:** ```sql\nSELECT a\nFROM t;\n```", "Table 2", "SELECT a FROM t"),
        ("table library: select count(*) from library", "Table library", "select count(*) from library"),
        ("Table 1: WITH x AS (SELECT 1) SELECT * FROM x", "Table 1", "WITH x AS (SELECT 1) SELECT * FROM x"),
        ("Table 1: SELECT 'a;b' FROM t; and more", "Table 1", "SELECT 'a;b' FROM t"),
        ('{"table": "Table 4", "statement": "SELECT 1 FROM t"}', "Table 4", "SELECT 1 FROM t"),
    ],
)
def test_a_turn_may_ask_a_table(reply: str, table: str, statement: str) -> None:
    turn = read_turn(reply)
    assert turn is not None
    assert (turn.table, turn.statement, turn.enough) == (table, statement, False)


@pytest.mark.parametrize(
    "reply",
    [
        "Final Answer: Table 3: Revenue grew [1].",
        "Final Answer: It is 5 [1].\nTable 1: SELECT 1 FROM t",
        "Final Answer: See\nTable 2: sales by year [1].",
    ],
)
def test_an_answer_that_names_a_table_is_an_answer(reply: str) -> None:
    turn = read_turn(reply)
    assert turn is not None
    assert turn.enough
    assert turn.answer
    assert turn.statement == ""


def test_the_model_is_told_what_was_searched_in_vain() -> None:
    rows: Any = [{"id": "a", "hop": 1, "corpus": "paragraph", "date": "", "locator": {"file": "/minutes.md"}}]
    tried: Any = {**hop(1, "first", ["a"]), "rewrites": ["other words", "noch ein Wort"]}
    messages = conversation("q?", rounds(Knowledge("q?", (tried,), rows, [strip("a", BEES)]), 5), 5_000)
    assert f"{UNSURE}other words; noch ein Wort\n[1]" in messages[-1][1]


DESK = RunContext("reason", Context(), TurnState(Meter()))
HOP: Any = {"n": 1, "query": "the ferry"}


@pytest.mark.parametrize(
    ("relevance", "unsearched", "query"),
    [
        ([-0.9, -0.8], True, "the ferry"),
        ([-0.9, 0.4], True, ""),
        ([-0.9], False, ""),
        ([], True, "the ferry"),
    ],
)
async def test_the_same_query_goes_to_other_corpora_only_where_nothing_found_is_relevant(
    relevance: list[float], unsearched: bool, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def opened(run: RunContext) -> None:
        return None

    monkeypatch.setattr(RunContext, "library", opened)
    monkeypatch.setattr("ragweave.components.reason.next_queries", lambda library, known: [])
    rows: Any = [{"id": str(n), "relevance": r} for n, r in enumerate(relevance)]
    decision = await locally(DESK, Knowledge("When?", [HOP], rows, unsearched=unsearched, lower=0.0))
    assert (decision.query, decision.again, bool(decision.missing)) == (query, bool(query), bool(query))


TEXTS = {
    "Big Gap": "Big Gap is a film of 2014 that was directed by Orla Venn.",
    "Orla Venn": "Orla Venn is an author who lives in Kelder.",
    "Kelder": "Kelder is a town on the river Sarn.",
    "Ferry": "The ferry leaves the pier at noon.",
    "Bread": "Rye bread is fed with flour and water every day.",
}
QUESTION = "Which river flows by the town of the director of Big Gap?"


@pytest.fixture
async def library(tmp_path: Path, home: Path) -> Library:
    folder = tmp_path / "texts"
    folder.mkdir()
    for title, text in TEXTS.items():
        (folder / f"{title}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    await index([folder])
    return await open_library()


def known_so_far(question: str, *titles: str) -> Knowledge:
    rows: Any = [{"id": t, "title": t, "text": TEXTS[t], "relevance": 0.5} for t in titles]
    hop: Any = {"n": 1, "query": question}
    return Knowledge(question, [hop], rows)


def test_words_are_open_if_no_lead_holds_them_and_they_weigh_enough() -> None:
    rows: Any = known_so_far(QUESTION, "Big Gap").rows
    weights = {"river": 2.0, "flow": 1.0, "town": 1.0, "director": 1.0, "big": 1.0, "gap": 1.0, "direct": 1.0}
    assert "river" in open_words(QUESTION, rows, weights) and "gap" not in open_words(QUESTION, rows, weights)
    assert open_words("Who directed Big Gap?", rows, weights) == []


async def test_the_name_in_the_best_passage_is_searched_with_the_open_words(library: Library) -> None:
    (query,) = next_queries(library, known_so_far(QUESTION, "Big Gap"))
    assert query.startswith("Orla Venn ") and "river" in query.split() and "Gap" not in query
    assert next_queries(library, known_so_far(QUESTION, "Ferry")) == [], "nothing is named"
    assert next_queries(library, known_so_far("Who directed Big Gap?", "Big Gap")) == [], "nothing is open"
    asked = known_so_far(QUESTION, "Big Gap")
    asked.hops[0]["also"] = [query]
    assert next_queries(library, asked) == [], "that was searched before"


async def test_three_hops_are_walked_without_a_model(library: Library) -> None:
    given: Any = {"messages": [("human", QUESTION)]}
    state = await graph.ainvoke(given, context=Context(mode="extractive", top_k=2))
    assert len(state["hops"]) > 1
    assert {"Big Gap", "Orla Venn", "Kelder"} <= {e["title"] for e in state["evidence"]}


@pytest.mark.parametrize("name", ["answer", "final_answer", "response"])
def test_an_object_is_an_answer_under_each_of_its_names(name: str) -> None:
    turn = read_turn(f'{{"{name}": "It is lit [1]."}}')
    assert turn is not None and turn.answer == "It is lit [1]."
