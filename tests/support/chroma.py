"""A Chroma server on loopback, started by the command of its package."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

_STARTS = 60.0
"""Seconds within which the server must start."""


@contextmanager
def chroma_server(folder: Path, port: int = 0) -> Iterator[str]:
    """Run a server over a folder and yield its URL; skip the test if it does not start."""
    if not port:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
    # The package has no `__main__`, and its script may be installed for another Python.
    command = [sys.executable, "-c", "from chromadb.cli.cli import app; app()", "run"]
    command += ["--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url, until = f"http://127.0.0.1:{port}", time.monotonic() + _STARTS
    try:
        while not _answers(url):
            if process.poll() is not None or time.monotonic() > until:
                pytest.skip("`chroma run` of the package does not start here")
            time.sleep(0.1)
        yield url
    finally:
        process.kill()
        process.wait()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/api/v2/heartbeat", timeout=1).is_success
    except httpx.HTTPError:
        return False
