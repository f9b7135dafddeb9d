"""What the command line says of itself: help in groups with examples, wrong use, the state of the home."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from ragweave.app.cli import app
from ragweave.app.help import CHECKOUT, EXAMPLES, GROUPS
from ragweave.tests.docs.test_commands import parse

ROOT: Any = typer.main.get_command(app)


def test_every_command_of_a_user_is_in_a_group_with_its_whole_summary_and_none_of_a_checkout(
    main: Any,
) -> None:
    out = main("--help")[1]
    ours, _, theirs = out.partition(CHECKOUT)
    for names in GROUPS.values():
        for name in names:
            assert f"\n  {name} " in ours, name
    assert (
        "..." not in ours.partition("Options:")[2] and "\n  eval " in theirs and "--install-completion" in out
    )


def test_every_help_of_a_user_has_examples_and_each_of_them_parses(main: Any) -> None:
    for names in GROUPS.values():
        for name in names:
            for words in [[name, sub] for sub in getattr(ROOT.commands[name], "commands", ())] or [[name]]:
                assert " ".join(words) in EXAMPLES, words
    for words in EXAMPLES:
        out = main(*words.split(), "--help")[1]
        assert "\n  Examples:\n" in out and not out.partition("\nCommands:")[2].count("...\n"), words
    for lines in EXAMPLES.values():
        for line in lines:
            parse(ROOT, shlex.split(line.partition(" <")[0]))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ask"], "missing argument 'question'; see `"),
        (["asj"], "Did you mean 'ask'? see `"),
        (["eval"], "a command is missing; see `"),
        (["serve", "--port", "x"], "invalid value for '--port'"),
        (["index", "--nonsense"], "No such option"),
    ],
)
def test_wrong_use_is_one_sentence(main: Any, words: list[str], said: str) -> None:
    code, out, err = main(*words)
    assert (code, out, err.count("\n")) == (2, "", 1) and said.lower() in err.lower()


def test_without_a_command_it_prints_the_state_of_the_home_and_the_next_step(
    main: Any, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = main()
    assert code == 0 and "none yet" in out and "next       ragweave index FOLDER" in out and not home.exists()
    (tmp_path / "a.md").write_text("# A\n\nThe harbour was built in 1874.\n")
    main("index", str(tmp_path / "a.md"))
    out = main()[1]
    assert (
        "default (1 source)" in out and "quotes of the closest passages" in out and "`ragweave setup`" in out
    )
    assert out.count("\n") == 6


def test_what_is_listed_is_listed_for_programs_as_well(main: Any, home: Path) -> None:
    steps = json.loads(main("graph", "crag", "--json")[1])
    assert steps["graph"] == "crag" and {"step", "does", "then"} == set(steps["steps"][0])
    assert json.loads(main("chat", "--list", "--json")[1]) == []
    main("library", "create", "news")
    assert json.loads(main("library", "set", "news", "--json")[1])["library"] == "news"
