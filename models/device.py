"""Choose the device of the models: RAGWEAVE_DEVICE, or the first GPU."""

from __future__ import annotations

import os
import re
from typing import Any

from ragweave.models.errors import ModelError
from ragweave.models.settings import model_settings
from ragweave.models.text import clip

_HALF = 8
"""CUDA compute capability from which a GPU supports bfloat16."""
_FULL = re.compile(r"out of memory|_ALLOC_FAILED", re.I)
"""What torch, CTranslate2 and cuBLAS say if the memory of a GPU is full."""
_NO_LIBRARY = re.compile(r"\blib(?:cublas|cudnn|cudart)\w*\.so|\b(?:cublas|cudnn|cudart)\w*\.dll", re.I)
"""What CTranslate2 says if a library of CUDA is missing."""


def device_of(count: int, package: str) -> str:
    """Return `cpu`, `cuda` (the current one) or `cuda:N` for a package that sees `count` GPUs.

    Raises:
        ModelError: if RAGWEAVE_DEVICE names a GPU that the package does not see.
    """
    wanted = model_settings().device
    if wanted == "cpu" or (wanted == "auto" and (not count or launched_on_cpu())):
        return "cpu"
    number = int(wanted.partition(":")[2] or 0)
    if number >= count:
        seen = f"{count} of them" if count else "no GPU"
        raise ModelError(
            f"RAGWEAVE_DEVICE is {wanted}, and {package} sees {seen}",
            f"install the driver and the {package} made for it, or set RAGWEAVE_DEVICE to auto or cpu",
        )
    return "cuda" if wanted == "auto" else wanted


def launched_on_cpu() -> bool:
    """Return whether this is a process of `accelerate launch --cpu`, which trains on the CPU."""
    return os.environ.get("ACCELERATE_USE_CPU", "").lower() in ("1", "true", "yes", "y", "on", "t")


def torch_device(torch: Any) -> str:
    """Return `cpu`, `cuda` or `cuda:N` for models of torch.

    Raises:
        ModelError: if RAGWEAVE_DEVICE names a GPU that torch does not see.
    """
    return device_of(torch.cuda.device_count() if torch.cuda.is_available() else 0, "torch")


def places() -> str:
    """Return in words where the models compute, for `ragweave doctor`.

    Raises:
        ModelError: if RAGWEAVE_DEVICE names a GPU that no package sees, or a GPU does not work.
    """
    try:
        import torch
    except ImportError:
        device, gpu = "cpu", "no torch is installed"
    else:
        device = torch_device(torch)
        gpu = _gpu(torch, device)
    said = f"models compute on {device} ({gpu})"
    try:
        from ctranslate2 import get_cuda_device_count
    except ImportError:
        if device == "cpu":
            device_of(0, "torch")  # refuses a GPU that only the setting names
        return said
    speech = device_of(get_cuda_device_count(), "ctranslate2")
    if speech != "cpu" and model_settings().device == "auto":
        speech += " if CTranslate2 finds cuBLAS for it, else on cpu"
    return f"{said}, speech on {speech}"


def _gpu(torch: Any, device: str) -> str:
    """Return name and memory of a GPU, and the numbers in which encoders compute on it."""
    if device == "cpu":
        return "no GPU is used"
    try:
        free, size = torch.cuda.mem_get_info(device)
        name = torch.cuda.get_device_name(device)
    except RuntimeError as error:
        raise ModelError(
            f"{device} does not work: {clip(str(error), 200)}",
            remedy(error, "check the driver with nvidia-smi, or set RAGWEAVE_DEVICE to cpu"),
        ) from error
    numbers = str(encoding_type(torch, device)).removeprefix("torch.")
    return f"{name}, {free / 1e9:.1f} of {size / 1e9:.1f} GB free, encoders in {numbers}"


def encoding_type(torch: Any, device: str) -> Any:
    """Return the number type of an encoder: bfloat16 if the GPU supports it, else float32.

    bfloat16 has the range of float32. Routers and evaluators stay in float32, in which their thresholds were
    measured.
    """
    return torch.bfloat16 if halves(torch, device) else torch.float32


def halves(torch: Any, device: str) -> bool:
    """Return whether a device is a GPU that supports bfloat16."""
    return device != "cpu" and bool(torch.cuda.get_device_capability(device)[0] >= _HALF)


def is_full(error: BaseException) -> bool:
    """Return whether an error means that the memory of a GPU is full."""
    return bool(_FULL.search(str(error)))


def lacks_library(error: BaseException) -> bool:
    """Return whether an error means that CTranslate2 does not find a library of CUDA."""
    return bool(_NO_LIBRARY.search(str(error)))


def remedy(error: BaseException, otherwise: str) -> str:
    """Return the remedy for an error of a model: that of the GPU if it is the cause, else `otherwise`."""
    if is_full(error):
        return "the memory of the GPU is full: end other programs that use it, or set RAGWEAVE_DEVICE to cpu"
    if lacks_library(error):
        return "install this library of CUDA in the version that it names, or set RAGWEAVE_DEVICE to cpu"
    return otherwise
