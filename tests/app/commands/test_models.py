"""`ragweave models`: the table of pinned weights, without a network."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from ragweave.models.settings import model_settings

CONTENT = b"weights, as it were"


@pytest.fixture
def pinned(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Pin one entry by hand and forbid the network; returns where its file belongs."""
    home.mkdir()
    digest = hashlib.sha256(CONTENT).hexdigest()
    (home / "weights.toml").write_text(
        f'[[weights]]\nname = "tiny"\nrepo = "someone/tiny"\nrevision = "abc"\nlicence = "MIT"\n'
        f'[[weights.files]]\npath = "tiny.gguf"\nsha256 = "{digest}"\nsize = {len(CONTENT)}\n',
        encoding="utf-8",
    )
    monkeypatch.setenv("RAGWEAVE_OFFLINE", "true")
    model_settings.cache_clear()
    return home / "models" / "tiny" / "tiny.gguf"


def put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def test_nothing_is_needed_on_a_fresh_machine(main: Any) -> None:
    code, out, _ = main("models")
    assert code == 0
    assert out.startswith("Nothing is pinned, and nothing is needed")
    assert json.loads(main("models", "--json")[1]) == []


def test_an_entry_is_listed_with_its_state(main: Any, pinned: Path) -> None:
    assert "missing" in main("models", "list")[1]
    put(pinned, CONTENT)
    (row,) = json.loads(main("models", "list", "--json")[1])
    assert (row["name"], row["licence"], row["state"]) == ("tiny", "MIT", "ready")


def test_verifying_reads_every_byte(main: Any, pinned: Path) -> None:
    put(pinned, CONTENT)
    assert main("models", "verify", "tiny") == (0, "tiny: ready\n", "")
    put(pinned, CONTENT[::-1])
    code, out, _ = main("models", "verify", "tiny")
    assert code == 2
    assert out.startswith("tiny: damaged (")


def test_fetching_what_is_here_prints_its_folder(main: Any, pinned: Path) -> None:
    put(pinned, CONTENT)
    code, out, _ = main("models", "fetch", "tiny")
    assert (code, out) == (0, f"{pinned.parent}\n")


def test_fetching_offline_says_what_to_do(main: Any, pinned: Path) -> None:
    code, out, err = main("models", "fetch", "tiny")
    assert (code, out) == (2, "")
    assert "RAGWEAVE_OFFLINE" in err


def test_an_unknown_name_lists_those_there_are(main: Any, pinned: Path) -> None:
    code, _, err = main("models", "verify", "huge")
    assert code == 2
    assert "huge" in err and "tiny" in err


def test_interrupting_a_download_is_polite(main: Any, pinned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ragweave.models import weights

    def interrupted(*_: Any) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(weights, "fetch", interrupted)
    code, _, err = main("models", "fetch", "tiny")
    assert code == 130
    assert "Stopped." in err and "Traceback" not in err
