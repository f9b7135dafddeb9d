"""The reference of settings, commands and endpoints is what the programs say."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.docs import write_api, write_cli, write_configuration

DOCS = Path(__file__).resolve().parents[2] / "docs"
SCHEMA = {
    "paths": {
        "/api/ask": {
            "post": {
                "description": "Begin to answer.\nAnd more. It is told later.\n\nFurther.",
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Question"}}}},
            },
            "head": {"description": "Nothing."},
        },
    },
    "components": {"schemas": {"Question": {"properties": {"text": {}, "graph": {}}, "required": ["text"]}}},
}


def test_the_references_are_up_to_date(home: Path) -> None:
    written = {name: (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("configuration", "cli", "api")}
    made = {"configuration": write_configuration.page(), "cli": write_cli.page()}
    assert {**made, "api": write_api.page(written["api"])} == written, "run `make docs`"


def test_an_endpoint_is_told_with_what_is_sent_and_a_page_without_the_marks_is_refused(home: Path) -> None:
    told = write_api.tables(SCHEMA)
    assert "| `POST /api/ask` `text, graph?` | Begin to answer. |" in told and "Nothing" not in told
    with pytest.raises(ValueError, match="end of endpoints"):
        write_api.page("# API\n")
