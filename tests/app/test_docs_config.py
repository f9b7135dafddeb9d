"""The configuration reference is what the code says."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from ragweave.components.context import Context
from ragweave.docs import write_configuration as docs_config

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_page_in_docs_is_up_to_date() -> None:
    written = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert written == docs_config.page(), "run `make docs`"


def test_every_row_says_what_its_setting_means() -> None:
    rows = [line for line in docs_config.page().splitlines() if line.startswith("| `")]
    assert len(rows) > 40
    for row in rows:
        cells = row.replace("\\|", "/").strip("|").split("|")
        assert len(cells) == 4 and all(c.strip() for c in cells), row


def test_every_knob_of_a_run_is_there() -> None:
    page = docs_config.page()
    assert all(f"| `{name}` |" in page for name in Context.model_fields)


def test_meanings_may_stand_under_the_field() -> None:
    class Model(BaseModel):
        here: int = 1
        """What it is."""
        nothing: int = 2
        other: str = ""
        """Over
        two lines."""

    assert docs_config.attribute_docstrings(Model) == {"here": "What it is.", "other": "Over\ntwo lines."}


def test_the_page_can_be_written_or_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    docs_config.main([str(tmp_path / "c.md")])
    docs_config.main([])
    assert (tmp_path / "c.md").read_text(encoding="utf-8") == capsys.readouterr().out
