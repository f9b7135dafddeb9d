"""A private PostgreSQL server for the tests, on its own socket and in a temporary folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time as clock
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def binaries() -> Path | None:
    """Return the folder of the newest initdb and postgres, or None."""
    found = [initdb.parent for initdb in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    on_path = shutil.which("initdb")
    if on_path:
        found.append(Path(on_path).resolve().parent)
    return max(found, default=None)


class Postgres:
    """A server that a test can start, stop and kill."""

    def __init__(self, folder: Path, found: Path) -> None:
        self.folder, self._bin, self._data = folder, found, folder / "data"
        # PostgreSQL refuses to run as root; the package of Debian creates a user for it.
        self._who: dict[str, str] = {"user": "postgres"} if os.geteuid() == 0 else {}
        if self._who:
            shutil.chown(folder, "postgres")
        self._run("initdb", "-D", str(self._data), "-E", "UTF8", "-A", "trust", "-U", "ragweave", "--no-sync")
        with (self._data / "postgresql.conf").open("a") as conf:
            conf.write(f"listen_addresses = ''\nunix_socket_directories = '{folder}'\nfsync = off\n")

    def _run(self, program: str, *given: str) -> None:
        subprocess.run([self._bin / program, *given], check=True, capture_output=True, cwd="/", **self._who)

    def start(self) -> None:
        self._run("pg_ctl", "-D", str(self._data), "-l", str(self.folder / "log"), "-w", "start")

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-D", str(self._data), "-m", mode, "-w", "stop")

    def back_up(self) -> None:
        """Take a base backup, and keep the log from here on."""
        kept = f"mkdir -p {self.folder}/wal && cp %p {self.folder}/wal/%f"
        with (self._data / "postgresql.conf").open("a") as conf:
            conf.write(f"archive_mode = on\narchive_command = '{kept}'\n")
        self.stop("fast")
        self.start()
        self._run(
            "pg_basebackup",
            "-D",
            f"{self.folder}/base",
            "-X",
            "none",
            "-c",
            "fast",
            "-h",
            str(self.folder),
            "-U",
            "ragweave",
        )

    def restore(self, time: str) -> None:
        """Bring the server back as it was at a time, from the base backup and the log."""
        self.execute("SELECT pg_switch_wal()")
        self.stop("fast")
        shutil.rmtree(self._data)
        (self.folder / "base").rename(self._data)
        (self._data / "recovery.signal").touch()
        with (self._data / "postgresql.conf").open("a") as conf:
            conf.write(f"restore_command = 'cp {self.folder}/wal/%f %p'\nrecovery_target_time = '{time}'\n")
            conf.write("recovery_target_action = promote\n")
        self.start()
        while self.execute("SELECT pg_is_in_recovery()") != [(False,)]:
            clock.sleep(0.05)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Stop the server at the end; if this process is killed, its watcher stops the server."""
        stop = f"read _; '{self._bin}/pg_ctl' -D '{self._data}' -m immediate stop"
        quiet = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        watcher = subprocess.Popen(["sh", "-c", stop], start_new_session=True, cwd="/", **quiet, **self._who)
        try:
            yield
        finally:
            # Closing the pipe is not enough, because a child of this process may have it open.
            watcher.communicate(b"\n")

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://ragweave@/{database}?host={self.folder}"

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        import psycopg

        with psycopg.connect(
            f"host={self.folder} user=ragweave dbname={database}", autocommit=True
        ) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def database(self) -> Iterator[str]:
        """Create a database, yield its URL, and drop it at the end."""
        name = f"test_{uuid.uuid4().hex}"
        self.execute(f"CREATE DATABASE {name}")
        try:
            yield self.url(name)
        finally:
            self.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def private_postgres(found: Path) -> Iterator[Postgres]:
    """Run a server."""
    # The path of a socket has a short limit, which the folder of a test exceeds.
    folder = Path(tempfile.mkdtemp(prefix="ragweave-pg-", dir="/tmp"))
    try:
        server = Postgres(folder, found)
        with server.watched():
            server.start()
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)
