"""One setting says where models compute; the GPU is played."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from ragweave.models.asr_whisper import Whisper
from ragweave.models.checkpoint_files import load_encoder, load_model
from ragweave.models.device import encoding_type, torch_device
from ragweave.models.errors import InputError, ModelError
from ragweave.models.settings import model_settings


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
    whisper = SimpleNamespace(WhisperModel=lambda name, **options: given.update(options))
    monkeypatch.setitem(sys.modules, "faster_whisper", whisper)
    monkeypatch.setitem(sys.modules, "ctranslate2", SimpleNamespace(get_cuda_device_count=lambda: count))
    Whisper("tiny").check()
    assert torch_device(torch(count)) == found
    assert f"{given['device']}:{given['device_index']}".removesuffix(":0") == found


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
