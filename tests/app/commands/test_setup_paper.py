"""`ragweave setup --paper`: what the authors published, at one commit, after a yes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragweave.models import paper_weights
from ragweave.models.paper_weights import PaperWeights
from ragweave.models.settings import model_settings, user_file
from ragweave.tests.support import ScriptedHub

FILES = {
    "config.json": b'{"model_type": "bert"}',
    "model.safetensors": b"s" * 3_000,
    "pytorch_model.bin": b"p" * 3_000,
    "tokenizer.json": b"{}",
    "onnx/model.safetensors": b"o" * 2_000,
}


@pytest.fixture(autouse=True)
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ScriptedHub]:
    """A hub with a model of a few letters in place of each that a paper names."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    tiny = PaperWeights("text encoder", "owner/model", {"RAGWEAVE_EMBED": "hf:{repo}@{commit}"})
    monkeypatch.setitem(paper_weights.PAPERS, "universal-rag", (tiny,))  # type: ignore[arg-type]
    with ScriptedHub(dict(FILES)) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        yield served


def env() -> str:
    return user_file().read_text(encoding="utf-8") if user_file().exists() else ""


def test_a_paper_is_fetched_by_name_size_and_licence_after_a_yes_and_its_commit_is_held(
    main: Any, hub: ScriptedHub, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [False, True]
    monkeypatch.setattr("typer.confirm", lambda text: answers.pop(0))
    code, out, _ = main("setup", "--paper", "universal-rag")
    assert code == 0 and f"owner/model at {hub.commit}, 0 MB, licence apache-2.0" in out
    assert env() == "" and not [p for m, p, _ in hub.asked if "/resolve/" in p]
    assert main("setup", "--paper", "universal-rag")[0] == 0
    assert f"RAGWEAVE_EMBED='hf:owner/model@{hub.commit}'" in env()
    (folder,) = (model_settings().weights / "hub").glob("models--owner--model/snapshots/*")
    assert {p.name for p in folder.iterdir()} == {"config.json", "model.safetensors", "tokenizer.json"}
    held = json.loads((model_settings().weights / "commits.json").read_text(encoding="utf-8"))
    assert held == {"owner/model": hub.commit}
    first, hub.commit = hub.commit, "ab" * 20
    main("setup", "--paper", "universal-rag", "--yes")
    assert [p for _, p, _ in hub.asked if p.startswith(f"/api/models/owner/model/revision/{first}")]


def test_what_lies_on_no_hub_is_named_and_taken_from_a_folder_or_from_a_copy(
    main: Any, hub: ScriptedHub, tmp_path: Path
) -> None:
    code, _, err = main("setup", "--paper", "crag", "--yes")
    assert code == 2 and "drive.google.com" in err and "--weights FOLDER" in err and env() == ""
    (made := tmp_path / "evaluator").mkdir()
    (made / "config.json").write_bytes(FILES["config.json"])
    (made / "pytorch_model.bin").write_bytes(b"p")
    assert "a pickle only, which can run code" in main("setup", "--paper", "crag", "--weights", str(made))[2]
    (made / "model.safetensors").write_bytes(b"s")
    (made / "tokenizer.json").write_bytes(b"{}")
    assert main("setup", "--paper", "crag", "--weights", str(made))[0] == 0
    assert f"RAGWEAVE_EVALUATOR='{made}'" in env()
    assert main("setup", "--paper", "crag", "--weights", "owner/model", "--yes")[0] == 0
    assert f"RAGWEAVE_EVALUATOR='owner/model@{hub.commit}'" in env()


def test_nothing_is_asked_offline_and_other_bytes_than_the_hub_stated_are_thrown_away(
    main: Any, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", _stating(b"other"))
    code, _, err = main("setup", "--paper", "universal-rag", "--yes")
    assert code == 2 and "model.safetensors of owner/model does not have the sha256" in err and env() == ""
    hub.asked.clear()
    monkeypatch.setenv("RAGWEAVE_OFFLINE", "1")
    model_settings.cache_clear()
    assert "RAGWEAVE_OFFLINE forbids" in main("setup", "--paper", "universal-rag", "--yes")[2]
    assert hub.asked == [] and "there is no paper" in main("setup", "--paper", "unknown")[2]


def _stating(data: bytes) -> Any:
    """Return what the hub's client would say of a repository whose weights are other bytes."""
    import hashlib
    from types import SimpleNamespace

    lfs = SimpleNamespace(sha256=hashlib.sha256(data).hexdigest())
    held = [SimpleNamespace(rfilename="model.safetensors", size=1, lfs=lfs)]
    info = SimpleNamespace(sha="c0ffee" * 6 + "cafe", siblings=held, card_data=None)
    return lambda self, repo, **options: info
