"""docs/papers.md and docs/audit.md: verdicts, files, functions, tests, flows, counts and figures agree."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from itertools import pairwise

import pytest

from ragweave.components.method import PRESETS, graph_of
from ragweave.graphs.run import GRAPHS, build_agent
from ragweave.graphs.video_rag import build_retrieval
from ragweave.tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
AUDIT = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
TESTS = tomllib.loads((ROOT / "tests" / "docs" / "papers.toml").read_text(encoding="utf-8"))
PAPERS = ("UniversalRAG", "RAG-Fusion", "CRAG", "Auto-RAG", "VideoRAG")
VERDICTS = ("whole", "partly", "form", "missing")
Row = list[str]


def section(page: str, paper: str) -> str:
    """Return what a page has under the heading of a paper."""
    return page.split(f"\n## {paper}\n")[1].split("\n## ")[0]


def rows(text: str, columns: str) -> list[Row]:
    """Return the rows of the table with some columns."""
    _, _, table = text.partition(f"| {columns} |\n")
    lines = table.split("\n\n")[0].splitlines()[1:]
    found = []
    for line in lines:
        found.append([cell.strip() for cell in line[1:-1].split("|")])
    return found


def mechanisms(paper: str) -> list[Row]:
    return rows(section(PAGE, paper), "mechanism | verdict | file")


def clauses(paper: str) -> list[Row]:
    return rows(section(AUDIT, paper), "clause | verdict | code | difference or note")


MECHANISMS = [row for paper in PAPERS for row in mechanisms(paper)]
CLAUSES = [row for paper in PAPERS for row in clauses(paper)]


@pytest.mark.parametrize("row", MECHANISMS, ids=lambda row: row[0])
def test_a_mechanism_says_how_far_it_is_built_and_names_a_file(row: Row) -> None:
    _, verdict, file = row
    assert verdict == "whole" or re.match(r"(?:partly|form): \w", verdict)
    assert (ROOT / file.strip("`")).is_file()


@pytest.mark.parametrize("paper", PAPERS)
def test_each_mechanism_has_one_row_and_a_test(paper: str) -> None:
    names = [name for name, *_ in mechanisms(paper)]
    assert len(names) > 10 and names == [*TESTS[paper]]


@pytest.mark.parametrize("test", sorted({test for named in TESTS.values() for test in named.values()}))
def test_the_test_of_a_mechanism_is_there(test: str) -> None:
    path, name = test.split("::")
    assert re.search(rf"^(?:async )?def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.M)


def defined(file: str) -> set[str]:
    """Return the functions, classes and constants of a module."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            names |= {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    return names


@pytest.mark.parametrize("row", CLAUSES, ids=lambda row: row[0])
def test_a_clause_has_a_verdict_and_code_that_is_there(row: Row) -> None:
    _, verdict, code, difference = row
    assert verdict in VERDICTS and (difference or verdict == "whole")
    places = re.findall(r"`([^`]+)`", code)
    assert places and ", ".join(f"`{place}`" for place in places) == code
    for place in places:
        file, _, name = place.partition(":")
        assert (ROOT / file).is_file()
        assert name in defined(file) if file.endswith(".py") else not name


def test_the_counts_are_those_of_the_audit() -> None:
    counted = {
        row[0]: [*map(int, row[1:])]
        for row in rows(PAGE, "paper | clauses | whole | partly | form | missing")
    }
    assert [*counted] == [*PAPERS, "all"]
    for paper in PAPERS:
        verdicts = Counter(verdict for _, verdict, *_ in clauses(paper))
        assert counted[paper] == [verdicts.total(), *map(verdicts.__getitem__, VERDICTS)]
    assert counted["all"] == [sum(column) for column in zip(*map(counted.get, PAPERS), strict=True)]
    assert f"{len(CLAUSES)} sentences" in AUDIT


def figures(text: str) -> set[str]:
    """Return the decimal fractions and the counts of right, wrong and declined in a text."""
    return {*re.findall(r"[+-]?\d+(?:\.\d+|(?:/\d+){2})", text)}


@pytest.mark.parametrize("paper", PAPERS)
def test_the_figures_of_a_claim_are_in_the_block_below_it(paper: str) -> None:
    text = section(PAGE, paper)
    (block,) = re.findall(r"^<!-- figures: .+ -->\n```\n(.*?)^```$", text, re.M | re.S)
    (columns,) = re.findall(r"^\| (claim \|.+) \|$", text, re.M)
    claims = rows(text, columns)
    assert len(claims) >= 3
    for _, _, here, verdict in claims:
        assert figures(here) and figures(here) <= figures(block)
        assert re.match(r"confirmed|refuted|not confirmed|partly", verdict)
    remarks = text.split("](img/")[1].split("**Limits.**")[0]
    assert figures(remarks) <= figures(block) | {figure.lstrip("+-") for figure in figures(block)}


def test_every_graph_of_a_paper_has_a_preset_and_is_on_the_page() -> None:
    own = {*map(graph_of, PRESETS)}
    assert own == {*GRAPHS} - {"agent"}
    assert all(f"The graph `{name}`" in PAGE for name in own)


@pytest.mark.parametrize("name", [*dict.fromkeys(map(graph_of, PRESETS)), "retrieve_video"])
def test_the_ways_through_a_graph_are_those_of_its_code(name: str) -> None:
    (block,) = re.findall(rf"^<!-- flow: {name} -->\n```\n(.*?)^```$", PAGE, re.M | re.S)
    ways = [line.replace("END", "__end__").split(" -> ") for line in block.splitlines()]
    said = {edge for way in ways for edge in pairwise(way)}
    # The first begins; what nothing follows ends.
    begun = {a for a, _ in said} | {"__end__"}
    said |= {("__start__", ways[0][0]), *((last, "__end__") for _, last in said if last not in begun)}
    drawn = (build_retrieval().compile() if name == "retrieve_video" else build_agent(name)).get_graph()
    assert said == {(e.source, e.target) for e in drawn.edges}
