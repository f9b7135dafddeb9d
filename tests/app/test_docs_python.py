"""The page on Python: its code runs, its types are right, and it names every public name."""

from __future__ import annotations

import asyncio
import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from mypy import api

import ragweave
from ragweave.docs import write_api, write_cli, write_configuration
from ragweave.tests.app.test_integrations import TEXTS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
CODE = "\n\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S))


def test_the_code_of_the_page_runs_from_top_to_bottom(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "notes" / name).write_text(text, encoding="utf-8")
    names: dict[str, Any] = {}
    exec(CODE, names)
    asyncio.run(names["talk"]())
    assert names["verified"] and names["documents"]
    said = capsys.readouterr().out
    assert said.count("Orlow") >= 6 and "1987" in said and "no library named" in said


def test_the_code_of_the_page_has_the_types_that_it_says(tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text(CODE, encoding="utf-8")
    settings = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache")]
    out, _, status = api.run([*settings, "--strict", "--follow-imports", "silent", str(tmp_path / "page.py")])
    assert status == 0, out


def test_the_page_names_all_that_is_public_with_its_arguments() -> None:
    for name in ragweave.__all__:
        assert f"`{name}" in PAGE or f"ragweave.{name}" in PAGE or name == "__version__", name
    for name, given in re.findall(r"^\| `(\w+)\(([^)]*)\)`", PAGE, re.M):
        wanted = [part for part in re.split(r", ", given) if part != "*"]
        made = getattr(ragweave, name)
        taken = list(made.model_fields if inspect.isclass(made) else inspect.signature(made).parameters)
        assert [
            p for p in taken if p not in ("name", "tags", "metadata") or not inspect.isclass(made)
        ] == wanted, name


DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_references_are_up_to_date(home: Path) -> None:
    written = {
        name: (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("configuration", "cli", "api")
    }
    made = {"configuration": write_configuration.page(), "cli": write_cli.page()}
    assert {**made, "api": write_api.page(written["api"])} == written, "run `make docs`"
