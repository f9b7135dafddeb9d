"""Downloading one file from a model hub: resumed, checked, and put in place in one step."""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx
from filelock import FileLock

from ragweave.models.errors import WeightsError
from ragweave.models.failures import is_transient, retry_after

logger = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]
"""Called with the file's path in its repository, bytes so far, and bytes in all."""

TRIES = 5
"""Attempts in a row that may bring no byte; each byte received starts the count anew."""
PAUSE = 1.0
"""Seconds before the second attempt; doubles, up to 20."""
TIMEOUT = httpx.Timeout(30.0, connect=10.0)


@dataclass(frozen=True)
class Remote:
    """A file on the hub and what it must turn out to be."""

    repo: str
    revision: str
    path: str
    sha256: str
    size: int

    @property
    def url(self) -> str:
        """Address of the file; HF_ENDPOINT names a mirror."""
        return file_url(self.repo, self.revision, self.path)


def file_url(repo: str, revision: str, path: str) -> str:
    """Return the address of a file on the hub, or on the mirror that HF_ENDPOINT names."""
    endpoint = (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")
    return f"{endpoint}/{quote(repo)}/resolve/{quote(revision, safe='')}/{quote(path)}"


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def download(remote: Remote, target: Path, progress: Progress | None = None) -> None:
    """Download a file to `target`, continuing a part left by an earlier attempt.

    The bytes gather in `target` + `.part`, which is renamed once its sha256 is right: `target` is whole or absent.
    Processes that want the same file wait for one another.

    Raises:
        WeightsError: if the hub cannot be reached, does not have the file, or sends other bytes than expected.
    """
    part = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_name(target.name + ".lock")):
            if target.exists() and sha256_of(target) == remote.sha256:
                return
            resumed = part.exists() and part.stat().st_size > 0
            _fill(remote, part, progress)
            if sha256_of(part) != remote.sha256 and resumed:
                logger.info("%s: the part kept from an earlier download does not belong to it", remote.path)
                part.unlink()
                _fill(remote, part, progress)
            if sha256_of(part) != remote.sha256:
                part.unlink()
                raise WeightsError(
                    f"{remote.path} of {remote.repo} does not have the expected sha256 and was thrown away",
                    "try again; if it stays so, the file on the hub or its entry is wrong: do not use it",
                )
            os.replace(part, target)
    except OSError as exc:
        raise WeightsError(
            f"{target} cannot be written: {exc.strerror or exc}", "free space or choose another home"
        ) from exc


def _fill(remote: Remote, part: Path, progress: Progress | None) -> None:
    """Bring the part to its full size, in as many attempts as make progress."""
    fruitless = 0
    with httpx.Client(timeout=TIMEOUT, follow_redirects=True, headers={"Accept-Encoding": "identity"}) as client:
        while True:
            before = _size(part)
            if before == remote.size:
                return
            if before > remote.size:
                part.unlink()
                before = 0
            try:
                _receive(client, remote, part, before, progress)
                failure: Exception = httpx.RemoteProtocolError("the connection ended early")
            except httpx.HTTPError as exc:
                if not is_transient(exc):
                    raise _explained(exc, remote) from exc
                failure = exc
            if _size(part) == remote.size:
                return
            fruitless = 0 if _size(part) > before else fruitless + 1
            if fruitless >= TRIES:
                raise _explained(failure, remote) from failure
            wait = max(retry_after(failure) or 0.0, PAUSE * 2**fruitless)
            logger.info("%s: %s; going on in %.1f s", remote.path, type(failure).__name__, wait)
            time.sleep(min(wait, 20.0))


def _receive(client: httpx.Client, remote: Remote, part: Path, have: int, progress: Progress | None) -> None:
    headers = {"Range": f"bytes={have}-"} if have else {}
    with client.stream("GET", remote.url, headers=headers) as response:
        if response.status_code == 416:
            part.unlink()
            return
        response.raise_for_status()
        # A server that ignores the range, or answers another one, sends the file from its start.
        if have and not (
            response.status_code == 206 and response.headers.get("content-range", "").startswith(f"bytes {have}-")
        ):
            have = 0
        with part.open("ab" if have else "wb") as file:
            # No block size: bytes gathered for a block would be lost when the connection breaks off.
            for block in response.iter_bytes():
                if have + len(block) > remote.size:
                    raise WeightsError(
                        f"{remote.path} of {remote.repo} is longer than the {remote.size} bytes of its entry",
                        "correct the entry, or do not use the file",
                    )
                file.write(block)
                have += len(block)
                if progress:
                    progress(remote.path, have, remote.size)
            file.flush()
            os.fsync(file.fileno())


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _explained(exc: Exception, remote: Remote) -> WeightsError:
    host = httpx.URL(remote.url).host
    if isinstance(exc, httpx.HTTPStatusError):
        status = exc.response.status_code
        if status == 404:
            return WeightsError(
                f"{host} has no {remote.path} in {remote.repo} at revision {remote.revision}", "correct the entry"
            )
        if status in (401, 403):
            return WeightsError(
                f"{host} does not give {remote.repo} to everybody ({status})",
                "accept its terms there, download the file yourself and put it into the folder models/NAME of the home",
            )
        return WeightsError(
            f"{host} answered {status} for {remote.path}", "try again later, or set HF_ENDPOINT to a mirror"
        )
    return WeightsError(
        f"{host} cannot be reached or keeps breaking off ({type(exc).__name__})",
        "try again: the download goes on where it stopped; or set HF_ENDPOINT to a mirror",
    )
