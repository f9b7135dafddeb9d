"""Files of the model hub: of one commit of a repository, the large ones with the sha256 that the hub states.

A connection that drops is taken up where it broke off. A later try fetches the files that did not come whole.
What is here whole is used without asking anybody.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragweave.models.errors import RagweaveError, WeightsError
from ragweave.models.failures import causes, status_of
from ragweave.models.settings import model_settings

_SHA256 = re.compile(r"[0-9a-f]{64}")
_AGAIN = "try again: files that came whole are kept; or set HF_ENDPOINT to a mirror"


def newest(repo: str) -> str:
    """Return the commit that the repository is at.

    Raises:
        WeightsError: if the hub may not be used, cannot be reached or has no such repository.
    """
    return str(described(repo).sha)


def described(repo: str, commit: str | None = None) -> Any:
    """Return what the hub says of a repository at a commit, the newest where none is named, with size and digests.

    Raises:
        WeightsError: as `newest` does.
    """
    _allowed(repo)
    try:
        from huggingface_hub import HfApi

        api = HfApi(endpoint=os.environ.get("HF_ENDPOINT") or None)
        return api.model_info(repo, revision=commit, files_metadata=True)
    except Exception as exc:
        raise _refusal(repo, exc) from exc


def held(repo: str, commit: str, files: Sequence[str]) -> Path | None:
    """Return the folder of a commit that was downloaded, or None where one of the files is not here."""
    folder = _cache() / f"models--{repo.replace('/', '--')}" / "snapshots" / commit
    return folder if commit and all((folder / name).is_file() for name in files) else None


def room_for(megabytes: int) -> None:
    """Check that a download fits on the disk.

    Raises:
        WeightsError: it does not.
    """
    there = next(p for p in (_cache(), *_cache().parents) if p.exists())
    if (free := shutil.disk_usage(there).free) < megabytes * 1_050_000:
        told = f"the download takes {megabytes:,} MB, and {free // 1_000_000:,} MB are free at {there}"
        raise WeightsError(told, "free some disk, or set RAGWEAVE_HOME to another one")


def fetch(
    repo: str,
    commit: str,
    wanted: Sequence[str],
    *,
    needed: Sequence[str] = (),
    sha256: Mapping[str, str] = {},
) -> Path:
    """Return the folder of a commit's files, downloaded where they are not here.

    `wanted` are names or patterns, at the top of the repository where none of them has a folder; without a
    file that is `needed` the model is not whole; `sha256` are the digests that files must have, where they
    are known.

    Raises:
        WeightsError: if the hub may not be used, cannot be reached, or does not have them; if the disk is
            full.
    """
    _allowed(repo)
    try:
        from huggingface_hub import snapshot_download

        # Subfolders hold the same weights in formats of other programs.
        at_top = not any("/" in name for name in wanted)
        folder = Path(
            snapshot_download(
                repo,
                revision=commit,
                cache_dir=_cache(),
                allow_patterns=list(wanted),
                ignore_patterns=["*/*"] if at_top else None,
                endpoint=os.environ.get("HF_ENDPOINT") or None,
            )
        )
    except Exception as exc:
        raise _refusal(repo, exc) from exc
    here = {str(file.relative_to(folder)): file.resolve() for file in folder.rglob("*") if file.is_file()}
    if missing := ", ".join(sorted({*needed, *sha256} - here.keys())):
        raise WeightsError(f"the hub has no {missing} of {repo}", "check name and commit")
    # Its cache calls a large file by the sha256 that the hub states.
    by_hub = {
        name: blob.name for name, blob in here.items() if _SHA256.fullmatch(blob.name) and name not in sha256
    }
    verify(repo, folder, by_hub, "try again; if it stays so, do not use it", by="the hub")
    verify(repo, folder, sha256, "try again; if it stays so, do not use it")
    return folder


def verify(repo: str, folder: Path, sha256: Mapping[str, str], remedy: str, *, by: str = "Ragweave") -> None:
    """Check the digests of the files of a commit; one that is wrong is thrown away, so that it is fetched again.

    Raises:
        WeightsError: a file has another digest than `by` states.
    """
    for name, stated in sha256.items():
        blob = (folder / name).resolve()
        with blob.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        if digest != stated:
            blob.unlink()
            told = f"{name} of {repo} does not have the sha256 that {by} states, and was thrown away"
            raise WeightsError(told, remedy)


def _cache() -> Path:
    return model_settings().weights / "hub"


def _allowed(repo: str) -> None:
    if model_settings().offline:
        raise WeightsError(
            f"RAGWEAVE_OFFLINE forbids fetching {repo} from the hub", "unset RAGWEAVE_OFFLINE once"
        )


def _refusal(repo: str, exc: Exception) -> RagweaveError:
    if any(
        isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT) for cause in causes(exc)
    ):
        told = f"the disk of {_cache()} is full, and {repo} was not fetched"
        return WeightsError(told, "free some disk and try again: files that came whole are kept")
    status = next((code for cause in causes(exc) if (code := status_of(cause))), None)
    if status == 404:
        told, remedy = "the hub has no such thing", "check name and commit"
    elif status in (401, 403):
        told, remedy = (
            f"the hub does not give it to everybody ({status})",
            "accept its terms there, set HF_TOKEN",
        )
    else:
        told = f"the hub answered {status}" if status else f"the hub cannot be reached ({type(exc).__name__})"
        remedy = _AGAIN
    return WeightsError(f"checkpoint {repo} cannot be fetched: {told}", remedy)
