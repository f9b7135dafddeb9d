"""Each of the nine packages works where docs/architecture.md says, and the test that it names is there."""

from __future__ import annotations

import ast
import re

import pytest

from ragweave.tests.docs.pages import ROOT

NINE = "langgraph langchain langchain_openai langchain_community chromadb tavily transformers moviepy networkx".split()
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROWS = {
    row[0]: row[1:]
    for row in re.findall(r"^\| (\w+) \| `([\w/]+\.py)` \| .* \| `([\w/]+\.py)::(\w+)` \|$", PAGE, re.M)
}


@pytest.mark.parametrize("package", NINE)
def test_a_package_is_imported_by_its_file_and_has_its_test(package: str) -> None:
    file, test_file, test = ROWS[package]
    nodes = list(ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))))
    modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    assert package in {module.split(".")[0] for module in modules}
    assert re.search(rf"^(?:async )?def {test}\(", (ROOT / test_file).read_text(encoding="utf-8"), re.M)
