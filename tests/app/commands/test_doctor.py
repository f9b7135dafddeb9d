"""`ragweave doctor`: an honest report that changes nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ragweave.components import exam
from ragweave.components.exam import ExamResult
from ragweave.corpora.store.stores import stores
from ragweave.models.chat import override
from ragweave.models.chat_client import ways_file
from ragweave.models.chat_ways import Ways, remember
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
