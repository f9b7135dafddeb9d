"""Serve `/metrics` for Prometheus.

Several workers write their metrics to files in one folder, and the worker that is queried adds them up.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from ragweave.corpora.store.stores import stores
from ragweave.serve.access import CallerNow
from ragweave.serve.problems import Refused

router = APIRouter()

_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable by which the client library finds the folder that several processes share."""


class _Libraries(Collector):
    """Sizes of the libraries, computed on each query."""

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Yield the gauge of items, by library and corpus."""
        items = GaugeMetricFamily("ragweave_items", "Items of a library.", labels=["library", "corpus"])
        for row in stores().catalog.libraries():
            for corpus, count in stores().catalog.counts(row.id).items():
                items.add_metric([row.name, corpus], count)
        yield items


@contextmanager
def of_several() -> Iterator[None]:
    """Create the metrics folder that the processes started in this block share."""
    folder = tempfile.mkdtemp(prefix="ragweave-metrics-")
    os.environ[_FOLDER] = folder
    try:
        yield
    finally:
        del os.environ[_FOLDER]
        shutil.rmtree(folder, ignore_errors=True)


def registry() -> CollectorRegistry:
    """Return the metrics of this process or of all workers, and the sizes of the libraries."""
    shown = CollectorRegistry()
    folder = os.environ.get(_FOLDER)
    if folder:
        for file in Path(folder).glob("gauge_live*.db"):
            pid = int(file.stem.rpartition("_")[2])
            if not _lives(pid):  # a worker that was killed leaves its gauges behind
                mark_process_dead(pid, folder)  # type: ignore[no-untyped-call]
        MultiProcessCollector(shown, folder)  # type: ignore[no-untyped-call]
    else:
        shown.register(REGISTRY)
    shown.register(_Libraries())
    return shown


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # the process belongs to another user
        return True
    return True


@router.get("/metrics")
def metrics(caller: CallerNow) -> Response:
    """Return the metrics for Prometheus; takes a key for all libraries, of any role."""
    if caller.libraries is not None:
        raise Refused(
            403, "this key is bound to its libraries", "use a key that was made for all libraries"
        ).named("key_limited_to_libraries")
    return Response(generate_latest(registry()), headers={"Content-Type": CONTENT_TYPE_LATEST})
