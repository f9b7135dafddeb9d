from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from pydantic import SecretStr

from ragweave.models.asr_whisper import Whisper
from ragweave.models.checkpoint_files import load_encoder, load_model
from ragweave.models.device import encoding_type, remedy, torch_device
from ragweave.models.errors import InputError, ModelError, WeightsError
from ragweave.models.settings import Role, model_settings
from ragweave.models.subprocess_env import environment, import_path


def set_all(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(f"RAGWEAVE_{name}", value)


HERE, THERE = "http://127.0.0.1:8000/v1", "http://127.0.0.1:9000/v1"


@pytest.mark.parametrize(
    ("name", "value"),
    [("CHAT_WIDTH", "0"), ("CHAT_URL", "localhost:11434"), ("RATES", "{"), ("RATES", '{"m": [-1, 2]}')],
)
def test_a_value_that_cannot_be_used_names_its_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    set_all(monkeypatch, **{name: value})
    with pytest.raises(InputError, match=f"RAGWEAVE_{name} cannot be used"):
        model_settings()


@pytest.mark.parametrize("role", ["writer", "reasoner", "judge"])
def test_a_run_may_put_another_writer_in_the_place_of_the_usual_one(
    monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    set_all(monkeypatch, CHAT="m", CHAT_URL=f" {HERE}/ ", CHAT_KEY="sk-k", CHATS="n, m, o")
    assert model_settings().writers == ("m", "n", "o") and "sk-k" not in repr(model_settings())
    assert model_settings().endpoint(role) == ("m", HERE, SecretStr("sk-k"))
    assert model_settings().endpoint(role, "n") == ("n", HERE, SecretStr("sk-k"))


@pytest.mark.parametrize("role", ["reasoner", "judge", "check", "vision", "embed", "rerank", "asr"])
def test_a_role_may_live_on_a_server_of_its_own_with_a_key_of_its_own(
    monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    name = role.upper()
    set_all(
        monkeypatch, CHAT="m", CHAT_URL=HERE, **{name: "own", f"{name}_URL": THERE, f"{name}_KEY": "theirs"}
    )
    assert model_settings().endpoint(role) == ("own", THERE, SecretStr("theirs"))


@pytest.mark.parametrize(
    ("variables", "asked", "model", "key"),
    [
        ({"JUDGE": "larger"}, ("judge",), "larger", "k"),
        ({"JUDGE_URL": HERE}, ("judge",), "openai:m", "k"),
        ({"JUDGE": "larger", "JUDGE_KEY": "j"}, ("check",), "larger", "j"),
        ({"JUDGE": "larger", "CHECK": "strict"}, ("check",), "strict", "k"),
        ({"JUDGE_URL": THERE}, ("judge",), "openai:m", ""),
        ({"CHAT_URL": "", "JUDGE": "anthropic:larger"}, ("judge",), "anthropic:larger", ""),
        ({"CHAT_URL": "", "CHATS": "anthropic:n"}, ("writer", "anthropic:n"), "anthropic:n", ""),
        (
            {"CHAT_URL": "", "CHATS": "anthropic:n", "JUDGE": "openai:own"},
            ("judge", "anthropic:n"),
            "openai:own",
            "k",
        ),
    ],
)
def test_the_key_of_the_writer_goes_to_its_own_server_only(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], asked: tuple[Role, ...], model: str, key: str
) -> None:
    set_all(monkeypatch, **{"CHAT": "openai:m", "CHAT_URL": HERE, "CHAT_KEY": "k", **variables})
    found = model_settings().endpoint(*asked)
    assert (found.model, found.key.get_secret_value()) == (model, key)


def test_a_secret_may_lie_in_a_file_that_the_environment_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text("sk-file\n", encoding="utf-8")
    set_all(monkeypatch, CHAT="m", CHAT_URL=HERE, CHAT_KEY_FILE=str(tmp_path / "key"))
    assert model_settings().endpoint("writer") == ("m", HERE, SecretStr("sk-file"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"CHAT_KEY_FILE": "/nowhere/key"}, "CHAT_KEY_FILE names /nowhere/key, which cannot be read"),
        ({"CHAT_KEY": "sk-a", "CHAT_KEY_FILE": "/nowhere/key"}, "RAGWEAVE_CHAT_KEY_FILE are both set"),
    ],
)
def test_a_file_of_a_secret_that_is_not_there_or_not_alone_is_told(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], said: str
) -> None:
    set_all(monkeypatch, **given)
    with pytest.raises(InputError, match=said):
        model_settings()


def torch(count: int, capability: int = 9) -> Any:
    """Play torch on a machine of so many GPUs."""
    cuda = SimpleNamespace(
        is_available=lambda: count > 0,
        device_count=lambda: count,
        get_device_capability=lambda device: (capability, 0),
    )
    return SimpleNamespace(cuda=cuda, float32="float32", bfloat16="bfloat16", __version__="0")


@pytest.mark.parametrize(
    ("wanted", "count", "found"),
    [
        ("auto", 0, "cpu"),
        ("auto", 2, "cuda"),
        ("cpu", 2, "cpu"),
        ("cuda", 1, "cuda"),
        ("cuda:1", 2, "cuda:1"),
    ],
)
def test_a_setting_says_where_encoders_compute_and_whisper_listens(
    wanted: str, count: int, found: str, put: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(device=wanted)
    given: dict[str, Any] = {}
    model = SimpleNamespace(transcribe=lambda sound, **_: ([], None))
    whisper = SimpleNamespace(WhisperModel=lambda name, **options: given.update(options) or model)
    monkeypatch.setitem(sys.modules, "faster_whisper", whisper)
    monkeypatch.setitem(sys.modules, "ctranslate2", SimpleNamespace(get_cuda_device_count=lambda: count))
    Whisper("tiny").check()
    assert torch_device(torch(count)) == found
    assert f"{given['device']}:{given['device_index']}".removesuffix(":0") == found


def test_accelerate_that_is_started_with_cpu_takes_no_gpu_by_itself(
    put: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCELERATE_USE_CPU", "true")
    put(device="auto")
    assert torch_device(torch(2)) == "cpu"
    put(device="cuda")
    assert torch_device(torch(2)) == "cuda"


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("CUDA out of memory. Tried to allocate 46.00 MiB", "the memory of the GPU is full"),
        ("CUDA failed with error out of memory", "the memory of the GPU is full"),
        (
            "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate`",
            "the memory of the GPU is full",
        ),
        ("Library libcublas.so.12 is not found or cannot be loaded", "install this library of CUDA"),
        ("Library cublas64_12.dll is not found or cannot be loaded", "install this library of CUDA"),
        ("Could not load library libcudnn_ops_infer.so.8", "install this library of CUDA"),
        ("size mismatch for classifier.weight", "check it"),
    ],
)
def test_the_remedy_for_a_failure_of_a_gpu_is_that_of_the_gpu(said: str, found: str) -> None:
    assert remedy(RuntimeError(said), "check it").startswith(found)


def test_a_gpu_that_is_not_there_and_a_value_that_names_no_device_are_told(put: Any) -> None:
    for wanted, count, seen in (("cuda", 0, "no GPU"), ("cuda:2", 2, "2 of them")):
        put(device=wanted)
        with pytest.raises(ModelError, match=f"RAGWEAVE_DEVICE is {wanted}, and torch sees {seen}"):
            torch_device(torch(count))
    for wanted in ("gpu", "cuda:", "cuda:x", "cuda:-1", "mps"):
        put(device=wanted)
        with pytest.raises(InputError, match=r"RAGWEAVE_DEVICE cannot be used: .*auto, cpu, cuda or cuda:N"):
            model_settings()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a checkpoint, and play the packages that open it on a machine of two GPUs."""

    def opened(path: Path, *, dtype: str, output_loading_info: bool = False, **_: Any) -> Any:
        net = SimpleNamespace(dtype=dtype, device="", base_model_prefix="net", eval=lambda: net)
        net.to = lambda device: setattr(net, "device", device) or net
        return (net, {"missing_keys": []}) if output_loading_info else net

    maker, log = SimpleNamespace(from_pretrained=opened), MagicMock()
    log.utils.logging.get_verbosity.return_value = 0
    log.AutoModel = log.AnyHead = maker
    log.__version__ = "0"
    monkeypatch.setitem(sys.modules, "torch", torch(2))
    monkeypatch.setitem(sys.modules, "transformers", log)
    for name, text in (
        ("config.json", json.dumps({"model_type": "bert"})),
        ("vocab.txt", "a"),
        ("m.safetensors", ""),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("wanted", "device", "kind"), [("cuda:1", "cuda:1", "bfloat16"), ("cpu", "cpu", "float32")]
)
def test_an_encoder_is_opened_where_the_setting_says_and_what_has_thresholds_in_full_precision(
    wanted: str, device: str, kind: str, folder: Path, put: Any
) -> None:
    put(device=wanted)
    encoder, checkpoint = load_encoder("the encoder", str(folder), "")[0], load_model(folder, "AnyHead")[0]
    assert (encoder.device, encoder.dtype) == (device, kind)
    assert (checkpoint.device, checkpoint.dtype) == (device, "float32")
    assert encoding_type(torch(1, 7), "cuda:0") == "float32", (
        "an older GPU does not compute in half precision"
    )


def test_weights_that_do_not_fit_into_a_gpu_are_refused_in_words(
    folder: Path, put: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(device: str) -> None:
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")

    net = SimpleNamespace(base_model_prefix="net", eval=lambda: SimpleNamespace(to=full))
    opened = SimpleNamespace(from_pretrained=lambda path, **_: (net, {"missing_keys": []}))
    monkeypatch.setattr(sys.modules["transformers"], "AnyHead", opened)
    put(device="cuda")
    with pytest.raises(WeightsError, match=r"out of memory.*end other programs.*RAGWEAVE_DEVICE to cpu"):
        load_model(folder, "AnyHead")


def test_a_child_imports_from_checkouts_and_not_from_within_a_package_that_stands_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner, checkout, other = (tmp_path / name for name in ("cv2", "project", "other"))
    for folder in (inner, checkout, other):
        folder.mkdir()
        (folder / "__init__.py").touch()
    monkeypatch.setattr(sys, "path", [str(inner), "", str(tmp_path)])
    assert import_path() == str(tmp_path)
    monkeypatch.setattr(sys, "path", [str(checkout), str(other)])
    assert import_path() == os.pathsep.join([str(checkout), str(other)])


def test_a_child_that_opens_files_of_strangers_knows_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "RAGWEAVE_CHAT_KEY",
        "RAGWEAVE_DATABASE_URL",
        "AWS_SECRET_ACCESS_KEY",
        "PGPASSWORD",
        "HARMLESS",
    ):
        monkeypatch.setenv(name, "x")
    given = environment()
    assert "HARMLESS" in given and not {n for n in given if "KEY" in n or "DATABASE" in n or "PASS" in n}
