"""The reference of settings, commands and endpoints is what the programs say."""

from __future__ import annotations

from pathlib import Path

from ragweave.docs import write_api, write_cli, write_configuration

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_references_are_up_to_date(home: Path) -> None:
    written = {
        name: (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("configuration", "cli", "api")
    }
    made = {"configuration": write_configuration.page(), "cli": write_cli.page()}
    assert {**made, "api": write_api.page(written["api"])} == written, "run `make docs`"
