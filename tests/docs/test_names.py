"""What the docs name is there: the commands, the settings, and what their Python code imports."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest
import typer

from ragweave.app.cli import app

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
