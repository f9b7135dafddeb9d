"""The table of benchmarks/README.md: every command exists, and no record, set or program is without a row."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from ragweave.tests.docs.pages import ROOT

FOLDER = ROOT / "benchmarks"
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| [^|\n]+ \| [^|\n]+ \| `([^`\n]+)` \| ([^|\n]*)\|$", PAGE, re.M)
COMMANDS = [command for command, _ in ROWS]
NAMED = {name for _, files in ROWS for name in re.findall(r"`([^`]+)`", files)}


def kept_files() -> list[str]:
    """Return the records and sets as a row names them: a set without its endings."""
    records = [*FOLDER.glob("records/*.json*"), *FOLDER.glob("peers/records/*.json*")]
    sets = {path.with_suffix("") for path in FOLDER.glob("sets/*")}
    return sorted(path.relative_to(FOLDER).as_posix() for path in [*records, *sets])


def programs() -> list[str]:
    return sorted(p.name for p in FOLDER.glob("*.py") if '__name__ == "__main__"' in p.read_text("utf-8"))


def test_the_table_is_read() -> None:
    assert len(ROWS) > 30


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_of_a_row_exists(command: str) -> None:
    program, *words = shlex.split(command)
    if program == "make":
        assert re.search(rf"^{words[0]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    elif program == "ragweave":
        assert words[0] in ("eval", "bench") and (ROOT / "evals" / "commands" / f"{words[0]}.py").is_file()
    elif words[0] == "-m":
        assert (ROOT / f"{words[1].removeprefix('ragweave.').replace('.', '/')}.py").is_file()
    else:
        assert (ROOT / words[0]).is_file()


@pytest.mark.parametrize("file", kept_files())
def test_a_record_or_set_is_named_by_a_row(file: str) -> None:
    assert file in NAMED


@pytest.mark.parametrize("file", sorted(NAMED))
def test_a_file_of_a_row_exists(file: str) -> None:
    path = Path(FOLDER, file)
    assert path.is_file() or path.with_suffix(".jsonl").is_file()


@pytest.mark.parametrize("program", programs())
def test_a_program_is_named_by_a_row(program: str) -> None:
    assert any(f"benchmarks/{program}" in command for command in COMMANDS)
