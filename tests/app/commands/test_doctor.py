"""`ragweave doctor`: an honest report that changes nothing."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragweave.components import exam
from ragweave.components.exam import ExamResult
from ragweave.corpora.store.stores import stores
from ragweave.models import embed
from ragweave.models.chat import override
from ragweave.models.chat_client import ways_file
from ragweave.models.chat_ways import Ways, remember
from ragweave.models.encoders import normalise
from ragweave.models.settings import model_settings
from ragweave.tests.support import ScriptedChat


def areas(out: str) -> dict[str, dict[str, str]]:
    return {f["area"]: f for f in json.loads(out)}


def test_a_fresh_machine_is_well_and_says_what_is_off(main: Any, home: Path) -> None:
    code, out, _ = main("doctor", "--json")
    found = areas(out)
    assert code == 0
    assert {"python", "packages", "home", "libraries", "text encoder", "chat model", "web search"} <= set(
        found
    )
    assert found["packages"]["state"] == "ok"
    assert found["chat model"]["state"] == "off"
    assert "ragweave setup chat" in found["chat model"]["remedy"]
    assert not home.exists(), "looking around must not leave anything behind"


def test_the_device_is_shown_and_a_missing_one_is_bad(main: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert "models compute on cpu" in areas(main("doctor", "--json")[1])["device"]["what"]
    monkeypatch.setenv("RAGWEAVE_DEVICE", "cuda")
    model_settings.cache_clear()
    code, out, _ = main("doctor", "--json")
    found = areas(out)["device"]
    assert (code, found["state"]) == (2, "bad")
    assert "RAGWEAVE_DEVICE is cuda" in found["what"] and "auto or cpu" in found["remedy"]


def test_a_library_whose_catalog_is_damaged_is_named_by_its_folder(
    main: Any, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("# A\n\nThe harbour was built in 1874.\n")
    assert main("index", str(tmp_path / "a.md"), "--library", "newt")[0] == 0
    assert main("index", str(tmp_path / "a.md"))[0] == 0
    broken = stores().catalog.library("newt").id
    stores().catalog.close()
    for left in (home / "libraries" / broken).glob("catalog.sqlite-*"):
        left.unlink()
    (home / "libraries" / broken / "catalog.sqlite").write_bytes(b"garbage" * 2_000)
    code, out, _ = main("doctor", "--json")
    found = areas(out)["libraries"]
    assert (code, found["state"]) == (2, "bad")
    assert broken in found["what"] and "damaged" in found["what"] and "index again" in found["remedy"]
    assert areas(out)["library default"]["state"] == "ok"
    code, _, err = main("doctor", "--repair")
    assert code == 2 and broken in err
    code, _, err = main("ask", "When was the harbour built?", "--library", "newt")
    assert code == 2 and broken in err


@pytest.mark.exam
@pytest.mark.parametrize(
    ("right", "state", "said", "remedy"),
    [
        (None, "ok", "sits an exam", ""),
        (39, "ok", "39 of 40", ""),
        (30, "warn", "it missed myth", "set RAGWEAVE_CHECK"),
    ],
)
def test_the_exam_of_the_checking_model_is_shown_without_a_call(
    main: Any, monkeypatch: pytest.MonkeyPatch, right: int | None, state: str, said: str, remedy: str
) -> None:
    async def known(model: Any) -> ExamResult | None:
        return (
            None if right is None else ExamResult(model="m", host="h", right=right, of=40, missed=("myth",))
        )

    monkeypatch.setattr(exam, "known", known)
    with override(writer=ScriptedChat()):
        found = areas(main("doctor", "--json")[1])["check of answers"]
    assert found["state"] == state and said in found["what"] and found["remedy"].startswith(remedy)


def test_what_was_learnt_about_a_chat_server_is_shown(
    main: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT", "anthropic:claude")
    remember(ways_file(home), "claude at anthropic", Ways(streamed=False, thinks=True))
    _, out, _ = main("doctor", "--json")
    assert "its replies come whole" in areas(out)["chat model"]["what"]
    assert "thinks before it answers" in areas(out)["chat model"]["what"]


@pytest.fixture
def notes(main: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two notes that was indexed."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "ferry.md").write_text("# Ferry\n\nThe ferry sails at 7:10.\n", encoding="utf-8")
    (folder / "seals.txt").write_text("Seals rest on the breakwater.\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main("index", "notes", "--quiet")[0] == 0
    return folder


def test_index_with_another_encoder_says_what_to_set(
    main: Any, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Other:
        name, dim, max_words = "other:model", 200, 60

        def texts(self, texts: list[str]) -> Any:
            return normalise(embed.encoder("wordllama").texts(texts)[:, : self.dim])

    before = embed.encoder
    monkeypatch.setattr(
        embed, "encoder", lambda name=None: Other() if name == "other:model" else before(name)
    )
    code, out, _ = main("index", "--embed", "other:model")
    assert (
        code == 0
        and "has the encoder other:model now, and 2 vectors" in out
        and "RAGWEAVE_EMBED=other:model" in out
    )
    code, out, err = main("search", "ferry")
    assert code == 2 and "set RAGWEAVE_EMBED=other:model" in err


def test_the_doctor_repairs_every_library_and_says_what_it_made(main: Any, notes: Path) -> None:
    assert main("library", "create", "empty")[0] == 0
    code, out, _ = main("doctor", "--repair")
    assert code == 0
    assert "Library default, in" in out and "Library empty, in" in out and out.count("free disk:") == 2
    found = json.loads(main("doctor", "--repair", "--library", "default", "--json")[1])
    assert [f["library"] for f in found] == ["default"] and found[0]["vectors"] == 0
    assert main("doctor", "--repair", "--library", "nothing")[0] == 2


@pytest.fixture
def watching(notes: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that watches the notes and has read them once."""
    command = [sys.executable, "-m", "ragweave.app.cli", "index", "notes", "--watch", "--json"]
    process = subprocess.Popen(
        command, cwd=notes.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        assert json.loads(process.stdout.readline())["unchanged"] == 2
        yield process
    finally:
        process.kill()
        process.communicate()


def test_watching_indexes_what_changes_and_leaves_politely(
    notes: Path, watching: subprocess.Popen[str]
) -> None:
    (notes / "whales.txt").write_text("Whales pass in May.\n", encoding="utf-8")
    assert watching.stdout is not None and json.loads(watching.stdout.readline())["indexed"] == 1
    watching.send_signal(signal.SIGINT)
    assert watching.communicate(timeout=60) == ("", "Stopped. What was indexed stays.\n")
    assert watching.returncode == 130


def test_watching_names_what_was_read_and_what_is_gone(notes: Path, home: Path) -> None:
    command = [sys.executable, "-m", "ragweave.app.cli", "index", "notes", "--watch"]
    with subprocess.Popen(command, cwd=notes.parent, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert "2 unchanged" in process.stdout.readline() and "Ctrl-C" in process.stdout.readline()
            (notes / "whales.txt").write_text("Whales pass in May.\n", encoding="utf-8")
            assert next(line for line in process.stdout if "notes/" in line) == "Read: notes/whales.txt\n"
            (notes / "whales.txt").unlink()
            assert next(line for line in process.stdout if "notes/" in line) == "Gone: notes/whales.txt\n"
        finally:
            process.kill()


def test_watching_a_library_that_is_deleted_ends_with_a_sentence(
    main: Any, watching: subprocess.Popen[str]
) -> None:
    assert main("library", "delete", "default", "--yes")[0] == 0
    out, err = watching.communicate(timeout=60)
    assert (out, watching.returncode, err.count("\n")) == ("", 2, 1)
    assert "'default', which was watched, was deleted" in err
    assert main("library")[1].startswith("There is no library yet")
