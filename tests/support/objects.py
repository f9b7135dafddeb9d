"""An object store of this run's own: moto's server on loopback, which answers as S3 does."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest


@contextmanager
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Run the server and yield the URL of an empty bucket; skip the test if its packages are missing."""
    pytest.importorskip("obstore", reason="the extra `objects` is not installed")
    server = pytest.importorskip("moto.server", reason="moto is not installed (moto[s3], flask, flask-cors)")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    running = server.ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    running.start()
    try:
        for name, value in {
            "AWS_ENDPOINT_URL": (address := "http://{}:{}".format(*running.get_host_and_port())),
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():
            monkeypatch.setenv(name, value)
        httpx.post(f"{address}/moto-api/reset").raise_for_status()  # its state is that of the process
        httpx.put(f"{address}/ragweave").raise_for_status()
        yield "s3://ragweave/team"
    finally:
        running.stop()
