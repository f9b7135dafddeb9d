"""What the docs name is there: the commands, the settings, and what their Python code imports."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest
import typer

from ragweave.app.cli import app
from ragweave.components.method import PRESETS, graph_of
from ragweave.graphs.run import GRAPHS, build_agent
from ragweave.graphs.video_rag import build_retrieval

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = re.compile(r"(?:^|`|\$ )(?:[A-Z_]+=\S+ )*ragweave ([a-z][a-z-]+)(?: ([a-z][a-z-]+))?", re.M)
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_command_that_a_page_names_is_one(page: Path) -> None:
    for name, sub in COMMAND.findall(page.read_text(encoding="utf-8")):
        assert name in COMMANDS, f"ragweave {name}"
        if sub and hasattr(COMMANDS[name], "commands") and name != "eval":
            assert sub in COMMANDS[name].commands, f"ragweave {name} {sub}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_setting_that_a_page_names_is_in_the_table_of_settings(page: Path) -> None:
    table = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    known = set(re.findall(r"`(RAGWEAVE_\w+)`", table))
    known |= {
        f"{role}_{end}"
        for role in re.findall(r"`(RAGWEAVE_\w+)`, `_URL`, `_KEY`", table)
        for end in ("URL", "KEY")
    }
    named = set(re.findall(r"\bRAGWEAVE_[A-Z_]+[A-Z]\b(?!\*)", page.read_text(encoding="utf-8")))
    # The data sets of the checks, a variable of another program's file, and one of a single command.
    assert not named - known - {"RAGWEAVE_DATA", "RAGWEAVE_KEY", "RAGWEAVE_COPY_TO"}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_what_the_python_code_of_a_page_imports_is_there(page: Path) -> None:
    for code in re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "ragweave":
                module = import_module(node.module or "")
                assert all(hasattr(module, alias.name) for alias in node.names), ast.unparse(node)


PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip().strip("`") for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if "::test_" in line
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_says_how_far_it_is_built_and_names_a_file_and_a_test_that_are_there(row: list[str]) -> None:
    _, built, file, test = row
    assert built == "whole" or re.match(r"(?:partly|form): \w", built)
    assert (ROOT / file).is_file()
    path, name = test.split("::")
    assert re.search(rf"^(?:async )?def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.M)


def test_every_graph_of_a_paper_has_a_preset_and_is_on_the_page() -> None:
    own = {*map(graph_of, PRESETS)}
    assert own == {*GRAPHS} - {"agent"}
    assert all(f"`{name}`:" in PAGE for name in own)


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
