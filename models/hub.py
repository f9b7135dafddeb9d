"""Download files of one commit of a repository of the model hub, and check the sha256 of large files.

A download continues after a dropped connection. A later try fetches only the files that are not complete.
Complete files are used without a request.
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
    """Return the newest commit of a repository.

    Raises:
        WeightsError: if the hub may not be used, cannot be reached or has no such repository.
    """
    return str(described(repo).sha)


def described(repo: str, commit: str | None = None) -> Any:
    """Return the hub's description of a repository, with sizes and digests of the files.

    Without `commit` it describes the newest one.

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
    """Return the folder of a commit that was downloaded, or None if a file is missing."""
    if not commit:
        return None
    folder = _cache() / f"models--{repo.replace('/', '--')}" / "snapshots" / commit
    for name in files:
        if not (folder / name).is_file():
            return None
    return folder


def room_for(megabytes: int) -> None:
    """Check that a download fits on the disk.

    Raises:
        WeightsError: it does not.
    """
    there = _cache()
    while not there.exists():
        there = there.parent
    free = shutil.disk_usage(there).free
    if free < megabytes * 1_050_000:
        too_large = f"the download takes {megabytes:,} MB, and {free // 1_000_000:,} MB are free at {there}"
        raise WeightsError(too_large, "free some disk, or set RAGWEAVE_HOME to another one")


def fetch(
    repo: str,
    commit: str,
    wanted: Sequence[str],
    *,
    needed: Sequence[str] = (),
    sha256: Mapping[str, str] = {},
) -> Path:
    """Return the folder of a commit's files; download the files that are missing.

    `wanted` are names or patterns. If none of them names a folder, only the top of the repository is
    searched. The model does not work without the files in `needed`. `sha256` are the known digests of files.

    Raises:
        WeightsError: if the hub may not be used, cannot be reached, or does not have them; if the disk is
            full.
    """
    _allowed(repo)
    try:
        from huggingface_hub import snapshot_download

        at_top = "/" not in "".join(wanted)
        downloaded = snapshot_download(
            repo,
            revision=commit,
            cache_dir=_cache(),
            allow_patterns=list(wanted),
            # Subfolders hold the same weights in formats of other programs.
            ignore_patterns=["*/*"] if at_top else None,
            endpoint=os.environ.get("HF_ENDPOINT") or None,
        )
    except Exception as exc:
        raise _refusal(repo, exc) from exc
    _check_files(repo, Path(downloaded), needed, sha256)
    return Path(downloaded)


def _check_files(repo: str, folder: Path, needed: Sequence[str], sha256: Mapping[str, str]) -> None:
    """Check that the needed files are there, and the digests that Ragweave or the hub states."""
    here: dict[str, Path] = {}
    for file in folder.rglob("*"):
        if file.is_file():
            here[str(file.relative_to(folder))] = file.resolve()
    missing = ", ".join(sorted({*needed, *sha256} - here.keys()))
    if missing:
        raise WeightsError(f"the hub has no {missing} of {repo}", "check name and commit")
    by_hub: dict[str, str] = {}
    for name, blob in here.items():
        # The hub's cache names a large file by its sha256.
        if _SHA256.fullmatch(blob.name) and name not in sha256:
            by_hub[name] = blob.name
    verify(repo, folder, by_hub, "try again; if it stays so, do not use it", by="the hub")
    verify(repo, folder, sha256, "try again; if it stays so, do not use it")


def verify(repo: str, folder: Path, sha256: Mapping[str, str], remedy: str, *, by: str = "Ragweave") -> None:
    """Check the digests of the files of a commit; delete a file that is wrong, so that it is fetched again.

    Raises:
        WeightsError: if a file has another digest than `by` states.
    """
    for name, stated in sha256.items():
        blob = (folder / name).resolve()
        with blob.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        if digest != stated:
            blob.unlink()
            wrong = f"{name} of {repo} does not have the sha256 that {by} states, and was thrown away"
            raise WeightsError(wrong, remedy)


def _cache() -> Path:
    return model_settings().weights / "hub"


def _allowed(repo: str) -> None:
    if model_settings().offline:
        raise WeightsError(
            f"RAGWEAVE_OFFLINE forbids fetching {repo} from the hub", "unset RAGWEAVE_OFFLINE once"
        )


def _refusal(repo: str, exc: Exception) -> RagweaveError:
    """Return the error that explains why a download failed."""
    status = None
    for cause in causes(exc):
        if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT):
            full = f"the disk of {_cache()} is full, and {repo} was not fetched"
            return WeightsError(full, "free some disk and try again: files that came whole are kept")
        status = status or status_of(cause)
    if status == 404:
        reason, remedy = "the hub has no such thing", "check name and commit"
    elif status in (401, 403):
        reason = f"the hub does not give it to everybody ({status})"
        remedy = "accept its terms there, set HF_TOKEN"
    elif status:
        reason, remedy = f"the hub answered {status}", _AGAIN
    else:
        reason, remedy = f"the hub cannot be reached ({type(exc).__name__})", _AGAIN
    return WeightsError(f"checkpoint {repo} cannot be fetched: {reason}", remedy)
