"""`ragweave setup entities` says what the entity graph costs, and switches it on after a yes alone."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from dotenv import dotenv_values

from ragweave.app import guide
from ragweave.components.graph_state import HOUR_CALLS, HOUR_INPUT, HOUR_OUTPUT
from ragweave.corpora.settings import corpora_settings
from ragweave.models.chat import override
from ragweave.models.settings import user_file
from ragweave.tests.support import ScriptedChat

ROOT = Path(__file__).resolve().parents[3]
TALK = "WEBVTT\n\n00:01.000 --> 00:09.000\nIt was Ada Ostrander who saw the comet from Mount Helder.\n"
FOUND = "entity | Ada Ostrander | person | She saw the comet.\nentity | Mount Helder | place | A mountain."


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAGWEAVE_ENTITIES", raising=False)
    monkeypatch.setattr(guide, "is_terminal", lambda: True)


@pytest.fixture
def talk(tmp_path: Path, home: Path, main: Any) -> Path:
    """An indexed transcript, whose name has a space."""
    file = tmp_path / "the talk.vtt"
    file.write_text(TALK, encoding="utf-8")
    assert main("index", str(file), "--library", "talks")[0] == 0
    return file


def answer(monkeypatch: pytest.MonkeyPatch, reply: bool) -> list[str]:
    asked: list[str] = []
    monkeypatch.setattr("typer.confirm", lambda text, **options: asked.append(text) or reply)
    return asked


def written() -> dict[str, str | None]:
    return dict(dotenv_values(user_file()))


def doctor(main: Any) -> dict[str, str]:
    found: list[dict[str, str]] = json.loads(main("doctor", "--json")[1])
    [row] = [row for row in found if row["area"] == "entity graph"]
    return row


def test_it_is_offered_with_its_price_and_nothing_is_written_after_a_no(
    main: Any, talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answer(monkeypatch, False)
    with override(writer=ScriptedChat(), judge=ScriptedChat(model_name="reader")):
        code, out, _ = main("setup", "entities")
    assert code == 0 and len(asked) == 1 and written() == {}
    assert "15 calls" in out and "17,000 tokens" in out and "which may be chance" in out
    assert "The transcripts go to reader at" in out and "Library talks" in out and "1 call to read" in out


def test_after_a_yes_the_named_command_builds_it_and_doctor_says_how_far_it_is(
    main: Any, talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(monkeypatch, True)
    assert doctor(main)["state"] == "off"
    with override(judge=ScriptedChat(replies=[FOUND])):
        out = main("setup", "entities")[1]
        assert written() == {"RAGWEAVE_ENTITIES": "llm"}
        before = doctor(main)
        assert "note" in main("doctor")[1], "what is not well but does not fail has a sign of its own"
        assert before["state"] == "warn" and "library talks has none yet" in before["what"]
        named = re.search(r"with: ragweave (.*)", out)
        assert named is not None and named[1] in before["remedy"]
        assert main(*shlex.split(named[1]))[0] == 0
        after = doctor(main)
    assert after["state"] == "ok" and "library talks has 2 entities" in after["what"]
    with override(judge=ScriptedChat(model_name="another")):
        assert "1 of 1 parts are not read yet" in doctor(main)["what"], "another model reads all again"


def test_removed_it_stays_as_it_is_and_is_not_continued(main: Any, talk: Path) -> None:
    with override(judge=ScriptedChat(replies=[FOUND])):
        assert main("setup", "entities", "--yes")[0] == 0
        assert main("index", str(talk), "--library", "talks")[0] == 0
        code, out, _ = main("setup", "entities", "--remove")
        assert code == 0 and "The graph of library talks stays" in out and written() == {}
        assert corpora_settings().entities == "off"
        state = doctor(main)
    assert state["state"] == "off" and "built earlier, and not continued" in state["what"]


def test_without_a_chat_model_it_is_shown_and_a_yes_is_refused_with_the_command(
    main: Any, home: Path
) -> None:
    code, out, _ = main("setup", "entities")
    assert code == 0 and "needs a chat model first: ragweave setup chat" in out
    code, _, err = main("setup", "entities", "--yes")
    assert code == 2 and "ragweave setup chat" in err and written() == {} and not home.exists()


def test_it_takes_no_model_of_its_own_and_doctor_names_a_missing_one(main: Any, home: Path) -> None:
    code, _, err = main("setup", "entities", "--model", "openai:gpt-4o-mini")
    assert code == 2 and "built by the chat model" in err
    with override(judge=ScriptedChat()):
        assert main("setup", "entities", "--yes")[0] == 0
    state = doctor(main)
    assert state["state"] == "warn" and "ragweave setup chat" in state["remedy"]


def test_all_models_at_once_leave_it_alone(main: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guide, "_recommended", lambda part: None)
    with override(judge=ScriptedChat()):
        main("setup", "--all", "--yes")
    assert "RAGWEAVE_ENTITIES" not in written()


def test_the_price_is_the_one_that_the_page_about_recordings_prints() -> None:
    page = (ROOT / "docs" / "video.md").read_text(encoding="utf-8")
    row = re.search(r"\| an hour of recordings.*", page)
    assert row is not None and "benchmarks/entity_cost.py" in row[0]
    numbers = [float(n.replace(",", "")) for n in re.findall(r"[\d,.]+\d", row[0])]
    for rounded, measured in zip((HOUR_CALLS, HOUR_INPUT, HOUR_OUTPUT), numbers, strict=False):
        assert abs(rounded - measured) < rounded * 0.1
