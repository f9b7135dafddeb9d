from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragweave.models import checkpoint
from ragweave.models.checkpoint import TextModel
from ragweave.models.checkpoint_files import find, read_config, read_sheet, usable_labels
from ragweave.models.errors import InputError, MissingExtra, RagweaveError, WeightsError
from ragweave.models.relevance_reading import Passage
from ragweave.models.settings import model_settings
from ragweave.tests.support import ScriptedHub

KNOWN = ("none", "paragraph", "image")


def folder(at: Path, config: object = None, **files: bytes) -> Path:
    at.mkdir()
    if config is not None:
        (at / "config.json").write_text(
            config if isinstance(config, str) else json.dumps(config), encoding="utf-8"
        )
    for name, content in files.items():
        (at / name.replace("__", ".")).write_bytes(content)
    return at


@pytest.mark.parametrize(
    ("config", "files", "message"),
    [
        ("{broken", {}, "made is not a checkpoint"),
        ({"hidden": 3}, {}, "made is not a checkpoint"),
        ({"model_type": "t5"}, {}, "made has no weights"),
        ({"model_type": "t5"}, {"pytorch_model__bin": b"\x80"}, "a pickle only, which can run code"),
        ({"model_type": "t5"}, {"model__safetensors": b"x"}, "made has no tokeniser"),
        ({"model_type": "t5"}, {"weights__pt": b"PK"}, "a pickle only, which can run code"),
    ],
)
def test_a_folder_that_is_no_checkpoint_is_explained(
    tmp_path: Path, config: object, files: dict[str, bytes], message: str
) -> None:
    with pytest.raises(WeightsError, match=message):
        read_config(folder(tmp_path / "made", config, **files))


@pytest.mark.parametrize(
    "wanted", ["./nowhere", "/nowhere/at/all", "nowhere", "a/b/c", "~nobody/x", "a b/c", ""]
)
def test_what_is_neither_a_folder_nor_a_name_of_the_hub_is_refused(wanted: str) -> None:
    with pytest.raises(WeightsError, match="there is no checkpoint folder"):
        find(wanted)


COMMIT = "c0ffee" * 6 + "cafe"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedHub]:
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    files = {"config.json": b"{}", "model.safetensors": b"s" * 5_000, "onnx/model.txt": b"x"}
    with ScriptedHub({**files, "pytorch_model.bin": b"\x80"}) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        yield served


def test_a_commit_is_fetched_once_without_pickles_and_subfolders(hub: ScriptedHub, home: Path) -> None:
    found = find(f"owner/model@{COMMIT}")
    assert home in found.parents
    assert sorted(p.name for p in found.iterdir()) == ["config.json", "model.safetensors"]
    hub.asked.clear()
    assert find(f"owner/model@{COMMIT}") == found
    assert not [path for method, path, _ in hub.asked if method == "GET" and "/resolve/" in path]


def test_the_layout_in_which_crag_released_its_evaluator_is_fetched_and_found_whole(
    hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {
        "model_type": "t5",
        "architectures": ["T5ForSequenceClassification"],
        "is_encoder_decoder": True,
    }
    hub.files |= {
        "config.json": json.dumps(config).encode(),
        "spiece.model": b"p",
        "special_tokens_map.json": b"{}",
        "tokenizer_config.json": b'{"tokenizer_class": "T5Tokenizer"}',
    }
    del hub.files["onnx/model.txt"]
    found = find(f"owner/model@{COMMIT}")
    assert {p.name for p in found.iterdir()} == {*hub.files} - {"pytorch_model.bin"}
    assert read_config(found) == config and read_sheet(found).task is None
    opened: list[Path] = []
    monkeypatch.setattr(checkpoint, "classifier", opened.append)
    monkeypatch.setattr(checkpoint, "CheckpointEvaluator", lambda reader: "evaluator")
    assert checkpoint.evaluator(f"owner/model@{COMMIT}") == "evaluator" and opened == [found]


def test_a_file_without_the_sha256_that_the_hub_states_is_thrown_away(hub: ScriptedHub) -> None:
    blob = (find(f"owner/model@{COMMIT}") / "model.safetensors").resolve()
    blob.write_bytes(b"t" * 5_000)
    with pytest.raises(WeightsError, match=r"model\.safetensors of owner/model does not have the sha256"):
        find(f"owner/model@{COMMIT}")
    assert not blob.exists()


def test_a_model_that_the_hub_cannot_give_is_one_sentence(
    hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("owner/name", "owner/name@main", "owner/name@c0ffee", "o-1/n.2@refs/pr/1"):
        with pytest.raises(WeightsError, match="is not pinned"):
            find(name)
    with pytest.raises(
        WeightsError, match="checkpoint owner/other cannot be fetched: the hub has no such thing"
    ):
        find(f"owner/other@{COMMIT}")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(
        WeightsError, match="checkpoint owner/name cannot be fetched: the hub cannot be reached"
    ):
        find(f"owner/name@{COMMIT}")
    monkeypatch.setenv("RAGWEAVE_OFFLINE", "1")
    model_settings.cache_clear()
    with pytest.raises(WeightsError, match="RAGWEAVE_OFFLINE forbids"):
        find(f"owner/name@{COMMIT}")


def test_what_is_not_set_or_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    for opened, variable in ((checkpoint.router, "ROUTER"), (checkpoint.evaluator, "EVALUATOR")):
        with pytest.raises(InputError, match=f"RAGWEAVE_{variable} is not set"):
            opened(" ")
    config = {"model_type": "distilbert", "architectures": ["DistilBertForSequenceClassification"]}
    made = folder(tmp_path / "made", config, model__safetensors=b"x", vocab__txt=b"a")
    with pytest.raises(MissingExtra, match=r"ragweave\[hf\]"):
        checkpoint.router(str(made))


@pytest.mark.parametrize(
    "text", ["", "[]", '{"temperature": -1}', '{"max_length": 1e9}', '{"task": "chat"}', "\x00"]
)
def test_a_broken_sheet_is_explained(text: str, tmp_path: Path) -> None:
    (tmp_path / "ragweave.json").write_text(text, encoding="utf-8")
    with pytest.raises(WeightsError, match=r"ragweave\.json of .* cannot be read"):
        read_sheet(tmp_path)


def test_labels_are_checked_against_the_vocabulary() -> None:
    assert usable_labels(("no", " Image "), KNOWN, "it") == ("none", "image")
    for labels in (("none", "table"), ("image",), ("no", "none"), ()):
        with pytest.raises(RagweaveError, match="a router decides between none, paragraph, image"):
            usable_labels(labels, KNOWN, "it")


def test_an_encoder_decoder_reads_title_and_text_as_the_evaluator_of_crag_does() -> None:
    reader = object.__new__(TextModel)
    reader.tokenizer = SimpleNamespace(all_special_tokens=["</s>"])
    for joined, title, read in (
        (True, "Pell", "Pell // a town with a harbour"),
        (True, "", "a town with a harbour"),
        (False, "Pell", "Pell: a town\nwith a harbour"),
    ):
        reader.joined = joined
        assert reader.pair("Where?</s>", Passage(title, "a town\nwith a harbour")) == ("Where? ", read)
