"""Read files and recordings and embed texts on the nodes of a Ray cluster, within the same limits as locally.

Each actor takes one CPU, or the share that the settings name, and has a reading process of its own. Every
node must see the files under the same path. Items and pictures return through Ray, and the run is the only
writer. If an actor is lost, another repeats its current file; if its node is alive, the actor is restarted.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import SecretStr

from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.settings import CorporaSettings
from ragweave.corpora.store.blobs import Matrix
from ragweave.corpora.store.files import File
from ragweave.corpora.store.prepared import Prepared, params_hash
from ragweave.corpora.store.temporary import temporary
from ragweave.corpora.video.intake import Intake
from ragweave.corpora.video.job import JobStopped
from ragweave.models import embed
from ragweave.models.embed import Encoder
from ragweave.models.errors import LibraryError, MissingExtra, SourceError
from ragweave.models.settings import model_settings
from ragweave.models.subprocess_env import environment

logger = logging.getLogger(__name__)

_TRIES = 2
"""Actors that one file may end before the file counts as the cause."""
_AGAIN = 2
"""Restarts allowed for each actor of a run."""
_START = 60.0
"""Seconds that a restart may take: Ray may not know yet that a node is gone."""
_EMBEDDED = 64
"""Fewest texts that are worth sending to an actor."""

Reply = tuple[bytes, dict[str, bytes], list[tuple[str, str]]]
"""A `Prepared` as JSON, its pictures by name, and how well recordings were understood."""


class Worker:
    """The work of an actor; its methods return our errors as values instead of raising them."""

    def __init__(self, settings: dict[str, Any], command: Sequence[str] = ()) -> None:
        self._settings = CorporaSettings(**{**settings, "parse_workers": 1})
        self._readers = Readers(self._settings, command)

    def differs(self, roots: Sequence[str], params: str) -> str:
        """Return why this node cannot do the work of a run, or ""."""
        if params_hash() != params:
            return "runs another version of Ragweave"
        for root in roots:
            if not os.path.isdir(root):
                return f"does not see {root}"
        return ""

    def read(
        self, path: str, source: str, max_words: int, roots: Sequence[str], loader: str, later: bool
    ) -> Reply | SourceError:
        """Read a file in the limited process of this actor."""
        return _made(
            lambda media: (self._readers.read(path, source, max_words, media, roots, loader, later), [])
        )

    def perceive(self, library: str, max_words: int, file: File) -> Reply | SourceError:
        """Read a recording: its pictures and its speech."""
        intake = Intake(self._settings, library, max_words, None, threading.Event())
        return _made(lambda media: (intake.read(file, media, lambda *far: None), intake.understood))

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of texts."""
        return embed.encoder().texts(list(texts))


def _made(work: Callable[[Path], tuple[Prepared, list[tuple[str, str]]]]) -> Reply | SourceError:
    with temporary() as folder:
        try:
            prepared, understood = work(folder)
        except SourceError as error:
            return error
        media = {}
        for path in folder.iterdir():
            media[path.name] = path.read_bytes()
        return prepared.to_json(), media, understood


def _fit(there: dict[str, float], settings: CorporaSettings) -> int:
    """Return how many actors a node has room for."""
    fits = []
    for kind, share in zip(("CPU", "GPU"), settings.ray_shares, strict=True):
        if share:
            fits.append(int(there.get(kind, 0) / share))
    return min(fits)


def open_readers(settings: CorporaSettings, roots: Sequence[str]) -> RayReaders | Readers:
    """Return the readers that the settings name: the actors of a cluster, or processes of this machine."""
    return RayReaders(settings, roots) if settings.ray else Readers(settings)


def _ray(address: str) -> Any:
    """Return the module `ray`."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address == "local":
        # Ray reads this when it is imported, and then listens on loopback only.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    try:
        import ray
    except ImportError as error:
        raise MissingExtra("A Ray cluster", "cluster") from error
    return ray


def _actor(ray: Any, settings: CorporaSettings) -> Any:
    """Return the class of the actors, with their share of a node and the settings of this process."""
    variables = {}
    for name, value in environment().items():
        if name.startswith("RAGWEAVE_"):
            variables[name] = value
    cpus, gpus = settings.ray_shares
    actor = ray.remote(num_cpus=cpus, num_gpus=gpus)(Worker)
    return actor.options(runtime_env={"env_vars": variables})


def _without_keys(settings: CorporaSettings) -> dict[str, Any]:
    """Return the settings without the keys: nodes do not get these, because they read untrusted files."""
    kept = {}
    for name, value in settings:
        if not isinstance(value, SecretStr):
            kept[name] = value
    return kept


class RayReaders:
    """The actors of one run: they do what `Readers` do, from as many threads as `width`."""

    def __init__(
        self, settings: CorporaSettings, roots: Sequence[str], command: Sequence[str] = (), address: str = ""
    ) -> None:
        self._ray = _ray(address or settings.ray_address)
        most = self._connected(settings, address or settings.ray_address)
        self.width = min(settings.parse_workers or most, most)
        self.recordings = self.width
        actor = _actor(self._ray, settings)
        mine = _without_keys(settings)
        self._start: Callable[[], Any] = lambda: actor.remote(mine, command)
        self._settings, self._roots = settings, list(roots)
        self._all = [self._start() for _ in range(self.width)]
        self._idle: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._lock, self._again, self._closed = threading.Lock(), _AGAIN * self.width, False
        for one in self._all:
            why = self._ray.get(one.differs.remote(self._roots, params_hash()))
            if why:
                self.close()
                raise LibraryError(
                    f"A node of the Ray cluster {why}", "set it up as this machine, and share the folders"
                )
            self._idle.put(one)

    def _connected(self, settings: CorporaSettings, address: str) -> int:
        """Connect to the cluster, and return for how many actors it has room."""
        begun = {"include_dashboard": False} if address == "local" else {}
        try:
            quiet = {"ignore_reinit_error": True, "log_to_driver": False, "logging_level": "ERROR"}
            self._ray.init(address, **quiet, **begun)
            most = self._room(settings)
        except Exception as error:
            logger.warning("Ray: %s", error)
            what = f"The Ray cluster at {settings.ray_address!r} cannot be reached ({type(error).__name__})"
            token = "have its token here (~/.ray/auth_token)"
            remedy = f"start one with `ray start --head`, {token}, or leave --ray out"
            raise LibraryError(what, remedy) from error
        if not most:
            share = "{:g} CPUs and {:g} GPUs".format(*settings.ray_shares)
            raise LibraryError(
                f"The Ray cluster has nowhere {share} for an actor", "lower cpus or gpus in RAGWEAVE_RAY"
            )
        return most

    def read(
        self,
        path: str,
        source: str,
        max_words: int,
        media: Path | None = None,
        roots: Sequence[str] = (),
        loader: str = "",
        later: bool = False,
        seen: Callable[[int], None] = lambda count: None,
    ) -> Prepared:
        """Wait for a free node and read one file there; `later` skips its pictures; `seen` is not called.

        Raises:
            SourceError: the file cannot be read, went past a limit, or ended two nodes.
            LibraryError: no node is left, or its actors end whatever they do.
            Stopped: the run was stopped.
        """
        return self._unpacked(self._ask("read", path, source, max_words, list(roots), loader, later), media)

    def perceive(self, intake: Intake, file: File, media: Path, tell: Callable[..., None]) -> Prepared:
        """Read a recording; on this machine if a vision model writes captions, since its key stays here."""
        if intake.captioner is not None:
            return intake.read(file, media, tell)
        reply = self._ask("perceive", intake.library, intake.max_words, file)
        if isinstance(reply, tuple):
            intake.understood += reply[2]
        return self._unpacked(reply, media)

    def embed(self, encoder: Encoder, texts: Sequence[str]) -> Matrix:
        """Return the vectors of texts; embed them here if the encoder is a server or the texts are few."""
        if model_settings().embed_url or len(texts) < 2 * _EMBEDDED:
            return encoder.texts(list(texts))
        parts = np.array_split(np.array(texts, dtype=object), min(self.width, len(texts) // _EMBEDDED))
        with ThreadPoolExecutor(len(parts)) as pool:
            return np.concatenate(list(pool.map(lambda part: self._ask("embed", list(part)), parts)))

    def close(self) -> None:
        """End every actor, and abandon its current work."""
        self._closed = True
        for one in list(self._all):
            self._ray.kill(one)
        self._idle.put(None)

    def _ask(self, method: str, *given: Any) -> Any:
        for _ in range(_TRIES):
            one = self._idle.get()
            if one is None:
                # Wake the next waiting thread as well.
                self._idle.put(None)
                if self._closed:
                    raise JobStopped
                if self._room(self._settings):
                    raise LibraryError(
                        "The workers of the Ray cluster end again and again",
                        "look at the logs of Ray, and run the same command again",
                    )
                raise LibraryError(
                    "No node of the Ray cluster is left", "start nodes, and run the same command again"
                )
            try:
                reply = self._ray.get(getattr(one, method).remote(*given))
            except self._ray.exceptions.RayActorError as error:
                if self._closed:
                    raise JobStopped from None
                logger.warning("Ray: %s", error)
                self._replace(one)
            else:
                self._idle.put(one)
                return reply
        return SourceError("Reading it ended the processes of two nodes", "check the file, or their memory")

    def _replace(self, lost: Any) -> None:
        """Replace a lost actor, if the cluster has room and restarts are left."""
        with self._lock:
            self._all.remove(lost)
            started = None
            if self._again and self._room(self._settings) > len(self._all):
                self._again -= 1
                started = self._start()
                self._all.append(started)
        try:
            if started is not None and not self._ray.get(
                started.differs.remote(self._roots, params_hash()), timeout=_START
            ):
                self._idle.put(started)
                return
        except self._ray.exceptions.RayError as error:
            logger.warning("Ray: %s", error)
        with self._lock:
            if started is not None:
                self._ray.kill(started)
                self._all.remove(started)
            if not self._all:
                self._idle.put(None)

    def _room(self, settings: CorporaSettings) -> int:
        """Return how many actors the living nodes have room for."""
        total = 0
        for node in self._ray.nodes():
            if node["Alive"]:
                total += _fit(node["Resources"], settings)
        return total

    def _unpacked(self, reply: Reply | SourceError, media: Path | None) -> Prepared:
        if isinstance(reply, SourceError):
            raise reply
        if media is not None and reply[1]:
            media.mkdir(parents=True, exist_ok=True)
            for name, data in reply[1].items():
                (media / name).write_bytes(data)
        return Prepared.from_json(json.loads(reply[0]))
