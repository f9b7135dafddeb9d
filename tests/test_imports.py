"""Whatever a shipped module imports is declared in pyproject.toml, and not merely brought by something else."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ROOMS = [name.removeprefix("ragweave.").split(".")[0] for name in PROJECT["tool"]["setuptools"]["packages"]]
FILES = sorted({path for room in {*ROOMS} - {"ragweave"} for path in (ROOT / room).rglob("*.py")})


def named(requirement: str) -> str:
    """Return the name of a distribution in its one form."""
    return re.sub(r"[-_.]+", "-", re.split(r"[<>=!~\[; ]", requirement.strip())[0]).lower()


def declared() -> set[str]:
    project = PROJECT["project"]
    lists = [project["dependencies"], *(v for k, v in project["optional-dependencies"].items() if k != "dev")]
    return {named(requirement) for each in lists for requirement in each}


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found - {"ragweave"} - sys.stdlib_module_names


def test_every_import_of_a_shipped_module_is_declared() -> None:
    known, allowed = packages_distributions(), declared()
    lacking: dict[str, set[str]] = {}
    for path in FILES:
        for module in imported(path):
            distributions = {named(one) for one in known.get(module, [module])}
            if not distributions & allowed:
                lacking.setdefault(module, set()).add(str(path.relative_to(ROOT)))
    assert not lacking, lacking


@pytest.mark.parametrize(
    ("requirement", "name"),
    [("psycopg[binary]>=3.2", "psycopg"), ("PyStemmer>=3", "pystemmer"), ("a_b ; x", "a-b")],
)
def test_names_of_distributions_have_one_form(requirement: str, name: str) -> None:
    assert named(requirement) == name
