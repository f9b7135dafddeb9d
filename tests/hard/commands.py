"""Command lines under faults: each in a process that is forked from this one, watched until it has ended."""

from __future__ import annotations

import faulthandler
import gc
import json
import logging
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

for _name in [n for n in os.environ if n.startswith("RAGWEAVE_")]:
    del os.environ[_name]
os.environ |= {
    "OPENBLAS_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "ANONYMIZED_TELEMETRY": "False",
}
os.environ |= {"RAGWEAVE_OCR": "off", "RAGWEAVE_PARSE_WORKERS": "1", "RAGWEAVE_HOME": os.devnull}

# Everything is imported before the first step, which then only has to be forked.
import langgraph.checkpoint.sqlite.aio  # noqa: E402, F401
import lxml.html  # noqa: E402, F401
import markdown_it  # noqa: E402, F401
import pathspec  # noqa: E402, F401
import typer  # noqa: E402

from ragweave.app import api, cli, threads  # noqa: E402, F401
from ragweave.corpora.ingest import run  # noqa: E402, F401
from ragweave.corpora.ingest.readers import Readers  # noqa: E402
from ragweave.corpora.ingest.stages import prepare  # noqa: E402
from ragweave.corpora.settings import CorporaSettings  # noqa: E402
from ragweave.corpora.store import index_upkeep, repair, vectors  # noqa: E402, F401
from ragweave.graphs import agent  # noqa: E402, F401
from ragweave.models import embed  # noqa: E402
from ragweave.tests.hard.boundary import KINDS, Boundary, step_clock  # noqa: E402
from ragweave.tests.hard.held import Tiny, examine  # noqa: E402
from ragweave.tests.hard.uploaded import serve  # noqa: E402

LIMIT = 90.0
"""Seconds after which a step counts as one that hangs."""
BESIDE = "search beside"
CUT = "cut"
"""The fault of which a database knows besides: every connection to it ends at a moment."""
Step = dict[str, Any]

typer.main.get_command = cache(typer.main.get_command)
typer.main.get_command(cli.app)
embed.encoder("wordllama")  # before any process is forked
logging.getLogger().handlers.clear()  # its package makes one, where nothing else has
gc.freeze()


class Broken(Exception):
    """The home holds what it must not, or a command ended as none may."""


@dataclass
class Commands:
    """A home with what is known to be in it, and a way to run commands over it."""

    root: Path
    database: str = ""
    """The address of the PostgreSQL that keeps the catalogs, or none: they lie in the home."""
    clock: float = 0.0
    state: dict[str, Any] = field(default_factory=lambda: {"libraries": {}, "turns": {}})
    counts: Counter[str] = field(default_factory=Counter)
    said: str = ""

    def __post_init__(self) -> None:
        self.home, self.tmp = self.root / "home", self.root / "tmp"
        self.tmp.mkdir(parents=True)

    def _look(self) -> dict[str, Any]:
        if not self.home.exists():
            return self.state
        code, said, got = self._forked({}, self._tell)
        if code or got is None:
            raise Broken(f"the home cannot be looked at: {said[-1500:]}")
        self.state = got
        return self.state

    def _tell(self, pipe: int) -> None:
        with os.fdopen(pipe, "wb") as out:
            out.write(json.dumps(examine(self.home)).encode())

    def _command(
        self,
        step: Step,
        argv: list[str],
        library: str,
        *,
        text: str = "",
        codes: tuple[int, ...] = (0,),
        **how: bool,
    ) -> str | None:
        """Run a command line; return what it printed where it ended well, and None where its fault ended it."""
        fault = step.get("fault", "")
        encoder = self.state["libraries"].get(library, {}).get("encoder", "tiny1")
        code, said, _ = self._forked(step, lambda pipe: self._main(argv, step, encoder, text, how), library)
        self.said = said
        if step["op"] != BESIDE:
            self._look()
        self.counts[f"{step['op']} {fault}".strip() + (": " + ("ended" if code in codes else "stopped"))] += 1
        if "Traceback" in said or code == 1 or (code < -1 and code != -signal.SIGKILL):
            raise Broken(f"{' '.join(argv)} ended with {code}:\n{said[-3000:]}{self._log()}")
        if code == -signal.SIGKILL or (fault and code == 2 and "error: " in said):
            if not fault:
                raise Broken(f"{' '.join(argv)} was killed")
            return None
        if code not in codes:
            raise Broken(f"{' '.join(argv)} ended with {code} ({fault or 'no fault'}):\n{said[-3000:]}")
        return said

    def _log(self) -> str:
        path = self.home / "ragweave.log"
        return "\n" + path.read_text(errors="replace")[-2500:] if path.exists() else ""

    def _main(self, argv: list[str], step: Step, encoder: str, text: str, how: dict[str, bool]) -> int:
        os.environ |= {"RAGWEAVE_HOME": str(self.home), "TMPDIR": str(self.tmp), "RAGWEAVE_EMBED": encoder}
        tempfile.tempdir = str(self.tmp)
        embed.model_settings.cache_clear()
        embed._load = lambda name, settings: Tiny(name)
        CorporaSettings.lock_wait = 0.5
        if not how.get("readers"):
            Readers.read = lambda self, path, source, words, *more, **_: prepare(
                Path(path), source, words, *more
            )
        if how.get("many"):
            index_upkeep.INDEX_FROM = 1
            vectors.Vectors.stays = True
        if self.clock:
            step_clock(self.clock)
        if text:  # laid out before anything can fail
            with tempfile.TemporaryFile() as given:
                given.write(text.encode())
                given.seek(0)
                os.dup2(given.fileno(), 0)
            sys.stdin = open(0, closefd=False)
        if step.get("fault") in KINDS:
            where = self.home if step["fault"] == "read-only" else self.root
            Boundary(step["fault"], step["at"], str(where)).install()
        return serve(argv[1], argv[2:]) if argv[0] == "upload" else cli.main(argv)

    def _forked(self, step: Step, work: Callable[[int], Any], library: str = "") -> tuple[int, str, Any]:
        """Do something in a child; return its exit code or minus its signal, what it printed, and what it told."""
        out, (reading, writing) = tempfile.TemporaryFile(), os.pipe()
        child = os.fork()
        if not child:
            code = 1
            try:
                os.close(reading)
                os.dup2(out.fileno(), 1)
                os.dup2(out.fileno(), 2)
                faulthandler.register(signal.SIGUSR1, sys.__stderr__, all_threads=True)
                os.environ["RAGWEAVE_DATABASE_URL"] = self.database
                code = work(writing) or 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(code)
        os.close(writing)
        try:
            code = self._wait(child, step, library)
        except BaseException:  # one that stands still is continued by nobody
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise
        with os.fdopen(reading, "rb") as pipe:
            got = pipe.read() if not step else b""
        out.seek(0)
        return code, out.read().decode(errors="replace"), json.loads(got) if got else None

    def _wait(self, child: int, step: Step, library: str) -> int:
        began, stopped, due = time.monotonic(), False, step.get("fault") in ("timed kill", CUT)
        while True:
            pid, status = os.waitpid(child, os.WNOHANG | os.WUNTRACED)
            spent = time.monotonic() - began
            if pid and os.WIFSTOPPED(status):
                stopped = True
                if library in self.state["libraries"]:  # whoever reads is answered, or told who holds it up
                    beside = ["search", "beacon", "-l", library]
                    said = self._command({"op": BESIDE}, beside, library, codes=(0, 2, 3)) or ""
                    if "error: " in said and not any(
                        right in said for right in ("held by", "no library named")
                    ):
                        raise Broken(f"a reader beside one that stands still: {said[-1500:]}")
                os.kill(child, signal.SIGCONT)
            elif pid:
                self.counts["stopped and continued"] += stopped
                return os.waitstatus_to_exitcode(status)
            elif due and spent > step["at"] / 300:
                self._cut() if step["fault"] == CUT else os.kill(child, signal.SIGKILL)
                due = False
            elif spent > LIMIT:
                os.kill(child, signal.SIGUSR1)
                time.sleep(1)
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return -signal.SIGABRT
            else:
                time.sleep(0.002)

    def _cut(self) -> None:
        """End every connection to the database."""
        import psycopg

        others = "datname = current_database() AND pid <> pg_backend_pid()"
        with psycopg.connect(self.database.replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")
