"""Every command that a page shows is one: it parses, its files are there, and what needs this machine alone runs."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

import click
import pytest
import typer

from ragweave.app.cli import app
from ragweave.app.cli import main as ragweave
from ragweave.app.commands.common import EXIT_ABSTAINED
from ragweave.tests.docs.pages import PAGES, ROOT, Command, commands
from ragweave.tests.support.library import build_library

RAGWEAVE = list(dict.fromkeys(commands("ragweave")))
ALONE = {*"index ask search show sources library graph export doctor keys".split()}
"""Commands that need no server, no model, no data set and no other machine."""
ELSEWHERE = re.compile(
    r"--ray|--web|--preset|--source|--loader slack|--sheet|--film|video_rag|--set"
    r" (?!corpora|sentences)"
    r"|\$|revoke|library copy|keys (?:edit|rotate|give|logout)"
)
"""What needs a model, a recording, an export, a service or an id of the reader's own."""


def parse(command: click.Command, words: list[str]) -> None:
    with command.make_context(command.name, words) as context:
        if isinstance(command, click.Group):
            _, chosen, rest = command.resolve_command(context, [*context._protected_args, *context.args])
            assert chosen is not None
            parse(chosen, rest)


@pytest.mark.parametrize("command", RAGWEAVE, ids=str)
def test_a_command_of_a_page_parses(command: Command) -> None:
    parse(typer.main.get_command(app), [*command.words])


@pytest.fixture
async def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home, a personal folder that is the working folder too, and what the pages call its files."""
    folder = tmp_path / "person"
    for name in ("notes", "FOLDER", "papers", "photos", "lectures", "meetings"):
        shutil.copytree(ROOT / "examples" / "library", folder / name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(folder)
    text = (ROOT / "examples" / "library" / "ferry.md").read_text(encoding="utf-8")
    for library in ("default", "notes", "house"):
        await build_library(folder / "texts", {"ferry.md": text}, library)
    return folder


def runs_here(command: Command) -> bool:
    """Whether a command needs nothing that this machine lacks; only a picture or recording can be written to a file."""
    line = " ".join(command.words)
    if command.words[0] not in ALONE or command.variables or ELSEWHERE.search(line):
        return False
    return not ("--to" in command.words and command.words[0] == "show")


HERE = [page for page in PAGES if any(c.page == page.name and runs_here(c) for c in RAGWEAVE)]


@pytest.mark.parametrize("page", HERE, ids=lambda p: p.name)
def test_the_commands_of_a_page_run_one_after_the_other(
    page: Path, notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (c for c in RAGWEAVE if c.page == page.name and runs_here(c)):
        line = " ".join(command.words)
        assert ragweave(["search", "ferry", "--json"]) == 0
        identity, *_ = re.findall(r'"id": "(\w+)', capsys.readouterr().out)
        words = [w.replace("~", str(notes)) for w in command.words]
        words = [
            {"...": "When does the ferry sail?", "ID": identity, "PATHS": "notes"}.get(w, w) for w in words
        ]
        assert ragweave(words) in (0, EXIT_ABSTAINED), f"{line}\n{capsys.readouterr().err}"


@pytest.mark.parametrize("program", ["python", "make"])
def test_a_script_or_a_target_that_a_page_names_is_there(program: str) -> None:
    targets = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    for command in commands(program):
        first, *rest = [w for w in command.words if "=" not in w]
        if program == "make":
            assert {first, *rest} <= targets, str(command)
        elif first == "-m":
            assert (ROOT / (rest[0].removeprefix("ragweave.").replace(".", "/") + ".py")).is_file(), str(
                command
            )
        else:
            assert (ROOT / first).is_file(), str(command)


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
