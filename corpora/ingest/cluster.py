"""Reading, perceiving and embedding on the nodes of a Ray cluster, with the same processes and limits as here.

An actor for each CPU of the cluster, or for what the settings give to one, has a reading process of its own.
Files are opened at the same path on every node; what is made of them comes back through Ray, pictures
included, and the run that asked is the only writer. An actor that is lost costs what it had in hand, which
another one repeats; where its node lives, it is started again.
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
"""Actors that may be lost over one file before the file is taken to be the cause."""
_AGAIN = 2
"""Times that an actor is started again."""
_START = 60.0
"""Seconds that it may take: a node may have gone which Ray still holds to be alive."""
_EMBEDDED = 64
"""Texts that are worth a journey."""

Reply = tuple[bytes, dict[str, bytes], list[tuple[str, str]]]
"""A `Prepared` as JSON, its pictures by name, and what was understood of recordings."""


class Worker:
    """What an actor does; its methods return data and refusals as data, and no exceptions of ours."""

    def __init__(self, settings: dict[str, Any], command: Sequence[str] = ()) -> None:
        self._settings = CorporaSettings(**{**settings, "parse_workers": 1})
        self._readers = Readers(self._settings, command)

    def differs(self, roots: Sequence[str], params: str) -> str:
        """Return why this node cannot do the work of a run, in words, or ""."""
        if params_hash() != params:
            return "runs another version of Ragweave"
        return next((f"does not see {root}" for root in roots if not os.path.isdir(root)), "")

    def read(
        self, path: str, source: str, max_words: int, roots: Sequence[str], loader: str, later: bool
    ) -> Reply | SourceError:
        """Read a file in the limited process beside this actor."""
        return _made(
            lambda media: (self._readers.read(path, source, max_words, media, roots, loader, later), [])
        )

    def perceive(self, library: str, max_words: int, file: File) -> Reply | SourceError:
        """Look at a recording and listen to it."""
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
        return prepared.to_json(), {p.name: p.read_bytes() for p in folder.iterdir()}, understood


def _fit(there: dict[str, float], settings: CorporaSettings) -> int:
    """Return how many actors a node has room for."""
    parts = zip(("CPU", "GPU"), settings.ray_shares, strict=True)
    return min(int(there.get(kind, 0) / share) for kind, share in parts if share)


class RayReaders:
    """The actors of one run: they do what `Readers` do, from as many threads as `width`."""

    def __init__(
        self, settings: CorporaSettings, roots: Sequence[str], command: Sequence[str] = (), address: str = ""
    ) -> None:
        local = (address or settings.ray_address) == "local"
        begun = {"include_dashboard": False} if local else {}
        try:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            if (
                local
            ):  # Ray's own way to loopback, which it reads when it is imported: else every interface is open
                os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
            import ray
        except ImportError as error:
            raise MissingExtra("A Ray cluster", "cluster") from error

        self._ray = ray
        try:
            quiet = {"ignore_reinit_error": True, "log_to_driver": False, "logging_level": "ERROR"}
            ray.init(address or settings.ray_address, **quiet, **begun)
            most = self._room(settings)
        except Exception as error:
            logger.warning("Ray: %s", error)
            what = f"The Ray cluster at {settings.ray_address!r} cannot be reached ({type(error).__name__})"
            token = "have its token here (~/.ray/auth_token)"
            raise LibraryError(
                what, f"start one with `ray start --head`, {token}, or leave --ray out"
            ) from error
        if not most:
            share = "{:g} CPUs and {:g} GPUs".format(*settings.ray_shares)
            raise LibraryError(
                f"The Ray cluster has nowhere {share} for an actor", "lower cpus or gpus in RAGWEAVE_RAY"
            )
        self.width = min(settings.parse_workers or most, most)
        self.recordings = self.width
        # Keys stay here: the nodes read strangers' files.
        told = {k: v for k, v in environment().items() if k.startswith("RAGWEAVE_")}
        mine = {name: value for name, value in settings if not isinstance(value, SecretStr)}
        given = dict(zip(("num_cpus", "num_gpus"), settings.ray_shares, strict=True))
        actor = ray.remote(**given)(Worker).options(runtime_env={"env_vars": told})
        self._start: Callable[[], Any] = lambda: actor.remote(mine, command)
        self._settings, self._roots = settings, list(roots)
        self._all = [self._start() for _ in range(self.width)]
        self._idle: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._lock, self._again, self._closed = threading.Lock(), _AGAIN * self.width, False
        for one in self._all:
            if why := ray.get(one.differs.remote(self._roots, params_hash())):
                self.close()
                raise LibraryError(
                    f"A node of the Ray cluster {why}", "set it up as this machine, and share the folders"
                )
            self._idle.put(one)

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
        """Read one file on a free node, `later` without its pictures; waits for one, which never tells `seen`.

        Raises:
            SourceError: the file cannot be read, went past a limit, or ended two nodes.
            LibraryError: no node is left, or its actors end whatever they do.
            Stopped: the run was stopped.
        """
        return self._unpacked(self._ask("read", path, source, max_words, list(roots), loader, later), media)

    def perceive(self, intake: Intake, file: File, media: Path, tell: Callable[..., None]) -> Prepared:
        """Take a recording in; here, where a vision model is asked for captions, since its key stays here."""
        if intake.captioner is not None:
            return intake.read(file, media, tell)
        reply = self._ask("perceive", intake.library, intake.max_words, file)
        if isinstance(reply, tuple):
            intake.understood += reply[2]
        return self._unpacked(reply, media)

    def embed(self, encoder: Encoder, texts: Sequence[str]) -> Matrix:
        """Return the vectors of texts; here, where the encoder is a server or they are few."""
        if model_settings().embed_url or len(texts) < 2 * _EMBEDDED:
            return encoder.texts(list(texts))
        parts = np.array_split(np.array(texts, dtype=object), min(self.width, len(texts) // _EMBEDDED))
        with ThreadPoolExecutor(len(parts)) as pool:
            return np.concatenate(list(pool.map(lambda part: self._ask("embed", list(part)), parts)))

    def close(self) -> None:
        """End every actor; what they have in hand is given up."""
        self._closed = True
        for one in list(self._all):
            self._ray.kill(one)
        self._idle.put(None)

    def _ask(self, method: str, *given: Any) -> Any:
        for _ in range(_TRIES):
            one = self._idle.get()
            if one is None:  # whoever else waits is told as well
                self._idle.put(None)
                if self._closed:
                    raise JobStopped
                if self._room(self._settings):
                    what, remedy = (
                        "The workers of the Ray cluster end again and again",
                        "look at the logs of Ray",
                    )
                    raise LibraryError(what, f"{remedy}, and run the same command again")
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
        """Start an actor in the place of a lost one, where there is room for it and it was not tried too often."""
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
        return sum(_fit(node["Resources"], settings) for node in self._ray.nodes() if node["Alive"])

    def _unpacked(self, reply: Reply | SourceError, media: Path | None) -> Prepared:
        if isinstance(reply, SourceError):
            raise reply
        if media is not None and reply[1]:
            media.mkdir(parents=True, exist_ok=True)
            for name, data in reply[1].items():
                (media / name).write_bytes(data)
        return Prepared.from_json(json.loads(reply[0]))
