"""`ragweave ask` and `search`: output, options and bad input."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ragweave.components.answer import Answer
from ragweave.components.evidence import Sentence
from ragweave.components.phrases import QUOTED


def test_an_answer_names_its_sources_and_json_is_the_answer_object_and_nothing_else(
    main: Any, agent: Any
) -> None:
    code, out, err = main("ask", "When was it lit?")
    assert (code, err) == (0, "")
    assert out == "It was lit in 1874. [1] ✓\n\nSources\n  [1] /notes/lighthouse.md, History  p1\n"
    code, out, _ = main("ask", "When was it lit?", "--json", "--trace")
    assert code == 0 and Answer.model_validate_json(out) == agent.answer


def test_a_trace_prints_the_steps_before_the_answer(main: Any, agent: Any) -> None:
    _, out, _ = main("ask", "When was it lit?", "--trace")
    assert out.index("Checked the answer (") < out.index("It was lit") and "Chose where to look" not in out
    out = main("ask", "When was it lit?", "--trace", "full")[1]
    assert out.index("Chose where to look (local, 2 ms): paragraph .82") < out.index("Checked the answer")
    assert "By: no language model" in out
    assert out.count("It was lit in 1874.") == 1


def test_quotes_are_printed_below_their_sources_as_they_arrive(main: Any, agent: Any) -> None:
    quote = Sentence(
        text="Built in 1870. It was lit in 1874.", support="quoted", citations=(1,), marked=((18, 25),)
    )
    agent.answer = agent.answer.model_copy(
        update={"sentences": (quote,), "kind": "quotes", "notes": (QUOTED,)}
    )
    code, out, err = main("ask", "When was it lit?")
    assert (code, err) == (0, "")
    assert (
        out == "[1] The lighthouse\n    /notes/lighthouse.md  p1\n    Built in 1870. It was lit in"
        f" 1874.\n\n{QUOTED}\n"
    )
    traced = main("ask", "When was it lit?", "--trace")[1]
    assert traced.count("Built in 1870.") == 1 and traced.index("Checked the answer") < traced.index(
        "Built in 1870."
    )
    assert Answer.model_validate_json(main("ask", "When was it lit?", "--json")[1]).sentences == (quote,)


def test_an_abstention_has_its_own_exit_code_and_its_reason(main: Any, agent: Any) -> None:
    agent.answer = Answer(
        question="Who?", text="I could not find it.", abstained=True, why="nothing found mentions it"
    )
    code, out, _ = main("ask", "Who?")
    assert code == 3
    assert out == "I could not find it.\nWhy: nothing found mentions it\n"


def test_options_become_the_context_of_the_run(main: Any, agent: Any) -> None:
    main("ask", "Q?", "-l", "notes", "--mode", "extractive", "--web", "off", "--set",
         "max_hops=1", "--sentences", "2", "--set", "look=off", "--set", "corpora=document,paragraph",
         "--graph", "crag")  # fmt: skip
    context = agent.options[0]["context"]
    assert (context.library, context.mode) == ("notes", "extractive")
    assert (context.max_hops, context.sentences) == (1, 2)
    assert context.look == "off"
    assert context.corpora == ("document", "paragraph")
    assert agent.options[0]["graph"] == "crag"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("reply", "resumed"), [("y\n", [None, True]), ("n\n", [None, False]), ("", [None])])
def test_consent_to_a_web_search_is_asked_and_passed_on_and_stopping_there_stops_the_command(
    main: Any, agent: Any, monkeypatch: pytest.MonkeyPatch, reply: str, resumed: list[bool | None]
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(reply))
    agent.consents = ["price of the ferry"]
    code, out, err = main("ask", "Q?", "--web", "ask")
    assert "price of the ferry" in out + err
    assert (code, err.endswith("Stopped.\n")) == ((0, False) if reply else (130, True))
    assert [o["resume"] for o in agent.options] == resumed
    assert agent.options[0]["checkpointer"] is not None


BAD: list[tuple[str, list[str], str]] = [
    ("empty question", ["ask", ""], "the question is empty"),
    (
        "hops out of bounds",
        ["ask", "Q?", "--set", "max_hops=99"],
        "max_hops: input should be less than or equal to 10",
    ),
    ("unknown knob", ["ask", "Q?", "--set", "temperature=1"], "temperature"),
    ("knob without a value", ["ask", "Q?", "--set", "look"], "KEY=VALUE"),
    ("missing library", ["ask", "Q?", "-l", "nowhere"], "nowhere"),
    ("100 kB question", ["ask", "why " * 25_000, "-l", "made"], "99,999 characters"),
    ("unknown graph", ["ask", "Q?", "--graph", "nope"], "nope"),
    ("missing path", ["index", "/nowhere/at/all"], "/nowhere/at/all"),
    ("unknown source", ["sources", "show", "nope", "-l", "made"], "nope"),
    ("unknown id", ["show", "nope", "-l", "made"], "nope"),
    ("library that exists", ["library", "create", "made"], "made"),
    ("library name that cannot be", ["library", "create", ""], "name"),
    ("ageing that means nothing", ["library", "set", "made", "--recency", "maybe"], "auto, on or off"),
    ("half-life below zero", ["library", "set", "made", "--half-life", "-3"], "half-life"),
    ("delete of nothing", ["library", "delete", "nowhere", "--yes"], "nowhere"),
    ("drawing of nothing", ["graph", "nope"], "nope"),
]


@pytest.mark.parametrize(("argv", "words"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_input_gets_one_line_and_exit_code_2(main: Any, argv: list[str], words: str) -> None:
    if "made" in argv:
        assert main("library", "create", "made")[0] == 0
    code, out, err = main(*argv)
    assert (code, out) == (2, "")
    assert err.startswith("error: ") and err.count("\n") == 1 and words in err and "Traceback" not in err


def test_bytes_that_are_no_text_are_no_question(main: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # A shell without a locale passes invalid bytes in this form.
    monkeypatch.setattr(sys, "stdin", io.StringIO("what is \udcff\udcfe"))
    code, _, err = main("ask", "-")
    assert code == 2 and "is not UTF-8 text" in err


def test_an_unexpected_error_says_where_its_traceback_is(main: Any, agent: Any, home: Path) -> None:
    agent.error = KeyError("lost")
    code, _, err = main("ask", "Q?")
    assert code == 1
    assert err.count("\n") == 1
    assert str(home / "ragweave.log") in err
    assert "KeyError: 'lost'" in (home / "ragweave.log").read_text(encoding="utf-8")


def test_search_lists_places_ids_and_the_lines_that_match(main: Any, stock: Any) -> None:
    filler = " ".join(f"The harbour of village {n} has a pier of stone." for n in range(40))
    stock({"ferry.md": f"# Ferry\n\n{filler} The ferry sails at 7:10. {filler}\n"})
    code, out, _ = main("search", "When does the ferry sail?", "--top-k", "1")
    row = json.loads(main("search", "When does the ferry sail?", "--top-k", "1", "--json")[1])[0]
    assert code == 0 and "ferry.md" in out and row["id"] in out
    assert "The ferry sails at 7:10." in out and "village 39 has" in out and "village 12 has" not in out
    assert set(row) >= {"id", "corpus", "title", "text", "locator", "score", "relevance"}


def test_search_lists_a_passage_once_and_not_the_document_that_holds_it(main: Any, stock: Any) -> None:
    tides = " ".join(f"Tide {n} is high." for n in range(60))
    stock(
        {
            "ferry.md": (
                f"# Ferry\n\n{tides}\n\n## Winter\n\nThe ferry sails at 7:10.\n\n## Fares\n\nA child pays 4."
            )
        }
    )
    rows = json.loads(main("search", "When does the ferry sail in winter?", "--json")[1])
    assert {row["corpus"] for row in rows} == {"paragraph"} and len({row["id"] for row in rows}) == len(rows)
    assert sum("sails at 7:10" in row["text"] for row in rows) == 1 and len(rows) > 2
    only = json.loads(main("search", "When does the ferry sail?", "--json", "--set", "corpora=document")[1])
    assert {row["corpus"] for row in only} == {"document"}
