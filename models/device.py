"""Choose the device of the models: RAGWEAVE_DEVICE, or the first GPU."""

from __future__ import annotations

from typing import Any

from ragweave.models.errors import ModelError
from ragweave.models.settings import model_settings

_HALF = 8
"""CUDA compute capability from which a GPU supports bfloat16."""


def device_of(count: int, package: str) -> str:
    """Return `cpu`, `cuda` (the current one) or `cuda:N` for a package that sees `count` GPUs.

    Raises:
        ModelError: if RAGWEAVE_DEVICE names a GPU that the package does not see.
    """
    wanted = model_settings().device
    if wanted == "cpu" or (wanted == "auto" and not count):
        return "cpu"
    number = int(wanted.partition(":")[2] or 0)
    if number >= count:
        seen = f"{count} of them" if count else "no GPU"
        raise ModelError(
            f"RAGWEAVE_DEVICE is {wanted}, and {package} sees {seen}",
            f"install the driver and the {package} made for it, or set RAGWEAVE_DEVICE to auto or cpu",
        )
    return "cuda" if wanted == "auto" else wanted


def torch_device(torch: Any) -> str:
    """Return `cpu`, `cuda` or `cuda:N` for models of torch.

    Raises:
        ModelError: if RAGWEAVE_DEVICE names a GPU that torch does not see.
    """
    return device_of(torch.cuda.device_count() if torch.cuda.is_available() else 0, "torch")


def encoding_type(torch: Any, device: str) -> Any:
    """Return the number type of an encoder: bfloat16 if the GPU supports it, else float32.

    bfloat16 has the range of float32. Routers and evaluators stay in float32, in which their thresholds were
    measured.
    """
    half = device != "cpu" and torch.cuda.get_device_capability(device)[0] >= _HALF
    return torch.bfloat16 if half else torch.float32
