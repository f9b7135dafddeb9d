"""The reference of commands and of the API is what the programs say."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.docs import write_api, write_cli

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = {
    "paths": {
        "/api/ask": {
            "post": {
                "description": "Begin to answer.\nAnd more. It is told later.\n\nFurther.",
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Question"}}}},
            },
            "head": {"description": "Nothing."},
        },
        "/odd": {
            "get": {
                "description": "Say one|two.",
                "parameters": [
                    {"name": "q", "in": "query", "required": False},
                    {"name": "library", "in": "query", "required": True},
                    {"name": "id", "in": "path", "required": True},
                ],
            }
        },
    },
    "components": {"schemas": {"Question": {"properties": {"text": {}, "graph": {}}, "required": ["text"]}}},
}


def test_the_commands_in_docs_are_up_to_date() -> None:
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == write_cli.page(), "run `make docs`"


def test_the_endpoints_in_docs_are_up_to_date(home: Path) -> None:
    written = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert written == write_api.page(written), "run `make docs`"


def test_an_endpoint_is_told_with_what_is_sent_and_what_may_be_left_out() -> None:
    told = write_api.tables(SCHEMA)
    assert "| `POST /api/ask` `text, graph?` | Begin to answer. |" in told
    assert "| `GET /odd?library&q?` | Say one\\|two. |" in told
    assert "Nothing" not in told


def test_a_path_of_no_group_stands_in_the_last_table() -> None:
    last = write_api.tables(SCHEMA).split("### ")[-1]
    assert last.startswith(write_api.REST) and "/odd" in last


def test_an_option_of_several_commands_is_explained_once() -> None:
    assert write_cli.page().count("Print JSON for programs.") == 1


def test_a_page_without_the_marks_is_refused_before_anything_is_written(tmp_path: Path, home: Path) -> None:
    page = tmp_path / "api.md"
    page.write_text("# API\n", encoding="utf-8")
    with pytest.raises(ValueError, match="end of endpoints"):
        write_api.page(page.read_text(encoding="utf-8"))


def test_the_commands_can_be_written_or_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cli.main([str(tmp_path / "c.md")])
    write_cli.main([])
    assert (tmp_path / "c.md").read_text(encoding="utf-8") == capsys.readouterr().out
