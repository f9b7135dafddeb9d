"""The Whisper model that `ragweave setup` offers to download: its name, size and licence, and what its files are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ragweave.models.checkpoint_files import fetch
from ragweave.models.settings import model_settings

_NEEDED = ("config.json", "model.bin", "tokenizer.json")
"""Without one of them faster-whisper would ask the network for it."""


@dataclass(frozen=True)
class Offered:
    """A Whisper model in the format of CTranslate2 on the hub, at one commit; `files` have their sha256."""

    repo: str
    commit: str
    megabytes: int
    licence: str
    files: Mapping[str, str]

    @property
    def setting(self) -> str:
        """What RAGWEAVE_ASR calls it."""
        return f"whisper:{self.repo}@{self.commit}"

    def fetch(self) -> Path:
        """Download what is not here of it, and return its folder.

        Raises:
            WeightsError: the hub may not be used, cannot be reached, or has other files than these.
        """
        return fetch(self.repo, self.commit, self.files)


SMALL = Offered(
    "Systran/faster-whisper-small",
    "536b0662742c02347bc0e980a01041f333bce120",
    486,
    "MIT",
    {
        "config.json": "b55496ac7940a7ae47d2c01eab40edfd8701feec1229d9cce3b40014383fb828",
        "model.bin": "3e305921506d8872816023e4c273e75d2419fb89b24da97b4fe7bce14170d671",
        "tokenizer.json": "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
        "vocabulary.txt": "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
    },
)


def downloaded(repo: str, commit: str) -> Path | None:
    """Return the folder of a model that was downloaded at this commit, or None where it is not here whole."""
    folder = model_settings().weights / "hub" / f"models--{repo.replace('/', '--')}" / "snapshots" / commit
    return folder if commit and all((folder / name).is_file() for name in _NEEDED) else None
