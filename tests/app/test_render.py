"""What a person reads in a terminal."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from ragweave.app.places import clean, link, place, short_path
from ragweave.app.render import Flow, counted, duration, listed, print_answer, print_evidence, usage_line
from ragweave.components.evidence import Citation, Evidence, Sentence
from ragweave.components.phrases import QUOTED, SET_UP
from ragweave.corpora.types import Locator
from ragweave.nodes.answer import Answer, NodeUsage, told


def console(width: int = 80) -> Console:
    return Console(file=io.StringIO(), width=width, highlight=False, markup=False, emoji=False, color_system=None)


def printed(out: Console) -> str:
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


@pytest.mark.parametrize(
    ("locator", "words"),
    [
        ({"file": "/x/a.md", "heading": ["One", "Two"], "line": 4}, "/x/a.md, One › Two"),
        ({"file": "/x/a.pdf", "page": 3, "heading": ["One"]}, "/x/a.pdf, page 3"),
        ({"file": "/x/a.txt", "line": 12}, "/x/a.txt, line 12"),
        ({"file": "/x/a.txt"}, "/x/a.txt"),
        ({"file": "/x/a.xlsx", "heading": ["Prices"], "line": 235}, "/x/a.xlsx, Prices, row 235"),
        ({"file": "/x/a.xlsx", "line": 47}, "/x/a.xlsx, row 47"),
        (
            {"url": "https://example.org/p", "fetched": "2026-11-20T10:00:00"},
            "https://example.org/p (read on 2026-11-20)",
        ),
        ({}, ""),
    ],
)
def test_a_place_names_file_and_page_or_heading(locator: Locator, words: str) -> None:
    assert place(locator) == words


def test_a_path_below_the_working_folder_is_written_relative_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert short_path(str(tmp_path / "notes" / "a.md")) == "notes/a.md"


def test_a_path_below_the_home_folder_is_written_with_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert short_path(str(tmp_path / "a.md")) == "~/a.md"


def test_a_newline_in_a_file_name_stays_on_one_line() -> None:
    assert short_path("/x/two\nlines.md") == "/x/two⏎lines.md"


@pytest.mark.parametrize(
    ("locator", "address"),
    [
        ({"file": "/x/ä b.pdf", "page": 2}, "file:///x/%C3%A4%20b.pdf#page=2"),
        ({"url": "https://example.org/"}, "https://example.org/"),
        ({"url": "javascript:alert(1)"}, ""),
        ({}, ""),
    ],
)
def test_a_link_opens_the_place_and_nothing_that_runs(locator: Locator, address: str) -> None:
    assert link(locator) == address


@given(st.text())
def test_cleaned_text_cannot_steer_a_terminal(text: str) -> None:
    kept = clean(text)
    assert not any((ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 or c in "\u202e\u2066" for c in kept)
    assert clean(kept) == kept


def test_sentences_flow_as_one_paragraph_with_numbers() -> None:
    out = console()
    flow = Flow(out)
    flow.sentence("The lamp was lit in 1874.", (1,), "verified")
    flow.sentence("It still burns.", (1, 2), "verified")
    flow.end()
    assert printed(out) == "The lamp was lit in 1874. [1] It still burns. [1][2]\n"


def test_what_rests_on_no_source_is_marked() -> None:
    out = console()
    flow = Flow(out)
    flow.sentence("Water boils at 100 °C.", (), "model")
    flow.end()
    assert "[no source]" in printed(out)


@given(
    st.lists(st.text(alphabet=st.sampled_from("ab c灯塔。，"), min_size=1, max_size=60), max_size=5),
    st.integers(min_value=8, max_value=40),
)
def test_a_flow_never_runs_over_the_width_where_words_fit(texts: list[str], width: int) -> None:
    out = console(width)
    flow = Flow(out)
    for n, text in enumerate(texts, 1):
        flow.sentence(text, (n,), "verified")
    flow.end()
    for line in printed(out).splitlines():
        longest = max((len(w) for w in line.split() if w.isascii()), default=0)
        assert cell_len(line) <= max(width, longest)
    flat = "".join(printed(out).split())
    assert flat == "".join("".join(t.split()) + f"[{n}]" for n, t in enumerate(texts, 1))


def answer(**changes: object) -> Answer:
    citation = Citation(
        n=1, id="p1", title="Lighthouse", locator={"file": "/x/a.md", "heading": ["History"]}, quote="q"
    )
    values: dict[str, object] = {
        "question": "When?",
        "text": "It was lit in 1874. [1]",
        "sentences": (Sentence(text="It was lit in 1874.", support="verified", citations=(1,)),),
        "citations": (citation,),
        "confidence": 0.9,
    }
    return Answer.model_validate({**values, **changes})


def shown(one: Answer, width: int = 80, *, streamed: bool = False) -> str:
    out = console(width)
    print_answer(out, one, streamed=streamed)
    return printed(out)


def quotes(*texts: str, marked: tuple[int, int] | None = None, **changes: object) -> Answer:
    at: Locator = {"kind": "heading", "file": "/x/a.md", "heading": ["Lighthouse", "History"], "line": 7}
    cited = Citation(n=1, id="p1", title="Lighthouse · History", locator=at, quote="q")
    said = [Sentence(text=t, support="quoted", citations=(n,), marked=marked) for n, t in enumerate(texts, 1)]
    citations = [cited.model_copy(update={"n": n, "id": f"p{n}"}) for n, _ in enumerate(texts, 1)]
    return answer(sentences=tuple(said), citations=tuple(citations), kind="quotes", **changes)


def test_a_quote_stands_below_its_title_and_place_and_no_list_of_sources_repeats_them() -> None:
    told = shown(quotes("It was lit in 1874.", "Its keeper left.", notes=(f"{QUOTED} {SET_UP}", "the web was off")))
    assert told == (
        "[1] Lighthouse › History\n    /x/a.md, line 7  p1\n    It was lit in 1874.\n\n"
        "[2] Lighthouse › History\n    /x/a.md, line 7  p2\n    Its keeper left.\n\n"
        f"{QUOTED} Set\n{SET_UP.removeprefix('Set ')}\n"
        "Note: the web was off\n"
    )


@pytest.mark.parametrize(
    ("locator", "line"),
    [
        ({"kind": "page", "file": "/x/b.pdf", "heading": ["Pier"], "page": 2}, "/x/b.pdf, page 2"),
        ({"kind": "time", "file": "/x/c.vtt", "start": 79.0, "end": 89.0}, "/x/c.vtt 1:19-1:29"),
        ({"kind": "url", "url": "https://example.org/p"}, "https://example.org/p"),
        (
            {"kind": "time", "file": "/x/c.wav", "start": 5.0, "end": 9.0, "doubtful": True},
            "/x/c.wav 0:05-0:09 (heard, perhaps wrongly)",
        ),
    ],
)
def test_a_quote_names_its_page_its_seconds_or_its_address(locator: Locator, line: str) -> None:
    one = quotes("A line.")
    cited = one.citations[0].model_copy(update={"locator": locator, "title": "Pier\nand crane"})
    assert shown(one.model_copy(update={"citations": (cited,)})).startswith(f"[1] Pier and crane\n    {line}  p1\n")


def test_only_the_best_sentence_of_a_quote_is_bold() -> None:
    out = Console(file=io.StringIO(), width=60, force_terminal=True, color_system="standard", legacy_windows=False)
    print_answer(out, quotes("Before it. Lit in 1874. After.", marked=(11, 23)))
    body = printed(out).splitlines()[2]
    assert "".join(re.findall("\x1b\\[1m(.*?)\x1b\\[0m", body)).strip() == "Lit in 1874."


def test_rows_of_a_table_stand_on_lines_of_their_own_below_their_heads() -> None:
    told = shown(quotes("Prices are low.\nitem | price\nkayak | 210\n…\nsauna | 95", marked=(29, 40)))
    lines = [f"    {line}" for line in ("Prices are low.", "item | price", "kayak | 210", "…", "sauna | 95")]
    assert told.splitlines()[2:7] == lines


@given(
    st.lists(st.text(alphabet=st.sampled_from("ab c\n灯塔。，[]|"), min_size=1, max_size=90), min_size=1, max_size=3),
    st.integers(min_value=20, max_value=60),
    st.tuples(st.integers(0, 40), st.integers(0, 40)),
)
def test_a_quote_loses_no_character_and_never_runs_over_the_width(
    texts: list[str], width: int, ends: tuple[int, int]
) -> None:
    for text in texts:
        out = console(width)
        Flow(out).lines(text, (min(ends), max(ends)))
        assert "".join(printed(out).split()) == "".join(text.split())
        for line in printed(out).splitlines():
            longest = max((len(w) for w in line.split() if w.isascii()), default=0)
            assert cell_len(line) <= max(width, longest + 4) and line.startswith("    ")


def test_other_places_of_a_source_are_named_under_it() -> None:
    first = answer().citations[0].model_copy(update={"also": ({"file": "/y/b.md", "line": 3},)})
    told = shown(answer(citations=(first,)))
    assert "  [1] /x/a.md, History  p1\n      the same text: /y/b.md, line 3\n" in told
    quoted = answer(citations=(first,), sentences=(Sentence(text="Lit.", support="quoted", citations=(1,)),))
    assert "    /x/a.md  p1\n    the same text: /y/b.md, line 3\n    Lit.\n" in shown(quoted)


def test_an_answer_ends_with_its_sources() -> None:
    text = shown(answer(notes=("the web was not asked",)))
    assert text.startswith("It was lit in 1874. [1]\n")
    assert "Sources\n  [1] /x/a.md, History  p1\n" in text
    assert "Note: the web was not asked" in text


def test_numbers_of_one_place_share_a_line() -> None:
    first = answer().citations[0]
    other = first.model_copy(update={"n": 3, "id": "p2", "locator": {"file": "/x/b.pdf", "page": 2}})
    citations = (first, first.model_copy(update={"n": 2, "quote": "another sentence"}), other)
    told = shown(answer(citations=citations), streamed=True)
    assert "  [1][2] /x/a.md, History  p1\n  [3] /x/b.pdf, page 2  p2\n" in told


def test_an_id_that_does_not_fit_stands_under_its_place() -> None:
    assert "/x/a.md, History  p1" in shown(answer(), 30, streamed=True)
    assert "  [1] /x/a.md, History\n      p1\n" in shown(answer(), 24, streamed=True)


def test_a_streamed_answer_is_not_said_twice() -> None:
    told = shown(answer(), streamed=True)
    assert "1874" not in told and "Sources" in told


def test_an_abstention_says_why_once() -> None:
    why = "nothing found mentions 1999"
    none = answer(abstained=True, sentences=(), citations=(), text="I could not find it.", why=why)
    assert shown(none) == f"I could not find it.\nWhy: {why}\n"
    assert shown(none.model_copy(update={"text": f"Not found ({why})."})).count(why) == 1


def test_text_that_looks_like_markup_or_an_escape_is_shown_as_it_is() -> None:
    sentence = Sentence(text="See [bold]this[/bold]\x1b[31m now.", support="verified", citations=(1,))
    told = shown(answer(sentences=(sentence,)))
    assert "See [bold]this[/bold][31m now." in told and "\x1b" not in told


def test_evidence_shows_place_scores_and_the_lines_that_match() -> None:
    out = console()
    row: Evidence = {
        "id": "p1",
        "corpus": "paragraph",
        "origin": "library",
        "title": "Ferry",
        "text": "Nothing of this. The ferry sails at 7:10.",
        "locator": {"file": "/x/ferry.md", "heading": ["Timetable"]},
        "query": "q",
        "hop": 1,
        "score": 1.5,
        "relevance": 0.25,
        "date": "2024-01-02T00:00:00",
    }
    print_evidence(out, [row], [("The ferry sails at 7:10.", (0, 24))])
    text = printed(out)
    assert " 1. /x/ferry.md, Timetable\n" in text
    assert "relevance +0.25 · score 1.500 · paragraph · p1 · 2024-01-02" in text
    assert text.endswith("\n    The ferry sails at 7:10.\n")


def test_the_byline_tells_who_answered_and_what_it_took() -> None:
    timed = NodeUsage(node="generate", seconds=1.25)
    spent = NodeUsage(
        node="generate", role="writer", model="m", calls=2, input_tokens=900, output_tokens=200, cost=0.01
    )
    assert usage_line(answer(usage=(timed,))) == "no language model, 1.2 s"
    told = usage_line(answer(usage=(timed, spent), mode="llm", model="m at localhost"))
    assert told == "chat model m at localhost, 2 model calls, 1,100 tokens, 1.2 s, cost 0.0100"


@pytest.mark.parametrize(("seconds", "words"), [(0.0004, "0 ms"), (0.25, "250 ms"), (2.34, "2.3 s"), (600, "10 min")])
def test_durations_read_as_a_person_would_say_them(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_counts_and_lists_are_grammatical() -> None:
    assert [counted(n, "file") for n in (0, 1, 1200)] == ["0 files", "1 file", "1,200 files"]
    assert [listed(w) for w in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]


def test_a_list_and_a_table_stand_on_lines_of_their_own_in_the_terminal_and_in_the_text() -> None:
    signs = ["", "-", "-", "", "1.", "|"]
    said = [Sentence(text=f"S{n}.", support="verified", citations=(1,), sign=sign) for n, sign in enumerate(signs)]
    assert told(said) == "S0. [1]\n\n- S1. [1]\n- S2. [1]\n\nS3. [1]\n\n1. S4. [1]\n\n| S5. [1] |\n|---|"
    out = shown(Answer(sentences=tuple(said), text=told(said)))
    assert out.startswith("S0. [1]\n- S1. [1]\n- S2. [1]\nS3. [1]\n1. S4. [1]\n| S5. [1] |\n")


def test_code_and_lines_stand_as_they_were_written() -> None:
    signs = {"Dear Jonas,": "", "We take it.": "\n\n", "if late:\n    run()": "```py", "Priya": "\n\n", "Board": "\n"}
    said = [Sentence(text=t, support="verified", citations=(), sign=sign) for t, sign in signs.items()]
    assert told(said) == "Dear Jonas,\n\nWe take it.\n\n```py\nif late:\n    run()\n```\n\nPriya\nBoard"
    out = shown(Answer(sentences=tuple(said), text=told(said)))
    assert out.startswith("Dear Jonas,\n\nWe take it.\n    if late:\n        run()\n") and "Priya\nBoard" in out


def test_what_the_check_finds_after_a_sentence_is_shown_stands_below_it(capsys: pytest.CaptureFixture[str]) -> None:
    flow = Flow(Console(width=60))
    flow.sentence("It was lit in 1870.", [1], "pending")
    flow.sentence("It is red.", [1], "pending")
    flow.mark("It was lit in 1870.", [2], "contradicted", "The lamp was first lit in 1874.")
    flow.mark("It is red.", [1], "verified", "")
    assert " ".join(capsys.readouterr().out.split()) == (
        "It was lit in 1870. [1] It is red. [1] "
        "≠ “It was lit in 1870.” [2] (contradicted; the source says: “The lamp was first lit in 1874.”)"
    )
