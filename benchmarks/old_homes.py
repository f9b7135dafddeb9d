"""Open homes that earlier commits wrote with the program of this checkout.

    python benchmarks/old_homes.py 30 100 300
    python benchmarks/old_homes.py 30 100 300 --database postgresql+psycopg://USER@HOST/NAME
    python benchmarks/old_homes.py --keep tests/data/homes 30 100 300

For each number of commits, the program of that commit indexes two notes, makes a key for all libraries and
one for this library, answers a question of a conversation, and takes an upload. Then this program searches,
reads the conversation with the same key and continues it, opens the upload, removes it with the key that
added it, or with one that owns all, and runs `doctor`. At last the earlier program opens the home again: it
works if the tables are the same, and must refuse and change nothing if they are newer.

`--database` makes a database for each commit on the server of that address. `--keep` packs the homes of the
earlier programs for the tests.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from before import ROOT, checked_out

NOTES = {
    "lighthouse.md": "# The lighthouse\n\nThe lamp of the lighthouse was first lit on 3 October 1874.\n",
    "ferry.md": "# The ferry\n\nThe ferry sails four times a day from April to October.\n",
}
UPLOAD = "# The mill\n\nThe mill of Ostrow has nine wheels.\n"
QUESTION = "When was the lamp of the lighthouse first lit?"
FOLLOWING = "How often does the ferry sail?"
_PASSING = ("-shm", "-wal", ".log")
"""How the names of files end that any reader may change."""


class Program:
    """The program of a tree, over one home and, if a URL is given, one database."""

    def __init__(self, tree: Path, links: Path, home: Path, database: str) -> None:
        links.mkdir()
        (links / "ragweave").symlink_to(tree)
        names = {"RAGWEAVE_HOME": str(home), "PYTHONPATH": str(links), "XDG_CONFIG_HOME": str(home.parent)}
        if database:
            names["RAGWEAVE_DATABASE_URL"] = database
        self._environment: dict[str, str] = {}
        for name, value in os.environ.items():
            if not name.startswith("RAGWEAVE_"):
                self._environment[name] = value
        self._environment |= names
        self._folder = links

    def try_to(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command; return its end and what it prints."""
        return subprocess.run(
            [sys.executable, "-m", "ragweave.app.cli", *words],
            env=self._environment,
            cwd=self._folder,
            capture_output=True,
            text=True,
        )

    def run(self, *words: str) -> str:
        """Run a command; return what it prints."""
        done = self.try_to(*words)
        if done.returncode:
            raise SystemExit(f"ragweave {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout.strip()

    @contextmanager
    def served(self, key: str) -> Iterator[Client]:
        """Serve the home, and stop at the end."""
        command = [sys.executable, "-m", "ragweave.app.cli", "serve", "--port", "0", "--log", "none"]
        with subprocess.Popen(
            command, env=self._environment, cwd=self._folder, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            address = process.stdout.readline().split()[3]
            try:
                yield Client(address, key)
            finally:
                process.terminate()


class Client:
    """Asks a server with a key."""

    def __init__(self, address: str, key: str) -> None:
        self._address, self.key = address, key

    def call(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send JSON, or nothing; return what the server says."""
        data = None if body is None else json.dumps(body).encode()
        return json.loads(self.send(path, data, "application/json"))

    def send(self, path: str, data: bytes | None = None, kind: str = "", method: str | None = None) -> bytes:
        """Send a request; return the body of its answer."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": kind}
        for _ in range(100):
            asked = urllib.request.Request(self._address + path, data, headers, method=method)
            try:
                with urllib.request.urlopen(asked) as answer:
                    return bytes(answer.read())
            except urllib.error.HTTPError as error:
                raise SystemExit(f"{path}: {error.code} {error.read().decode()}") from None
            except urllib.error.URLError:  # it is about to listen
                time.sleep(0.1)
        raise SystemExit(f"{path}: no answer")

    def ask(self, question: str, **more: Any) -> str:
        """Ask, wait for the answer, return the id of the conversation."""
        run = self.call("/api/ask", {"question": question, **more})
        while self.call(f"/api/runs/{run['run']}")["status"] == "running":
            time.sleep(0.1)
        return str(run["thread"])

    def upload(self, name: str, text: str) -> None:
        """Add a file to the library `default`, and wait until it is there."""
        line = "line-between-parts"
        form = "Content-Disposition: form-data; name="
        body = f'--{line}\r\n{form}"library"\r\n\r\ndefault\r\n'
        body += f'--{line}\r\n{form}"files"; filename="{name}"\r\n\r\n{text}\r\n--{line}--\r\n'
        self.send("/api/upload", body.encode(), f"multipart/form-data; boundary={line}")
        while name not in self.sources():
            time.sleep(0.1)

    def settled(self) -> dict[str, dict[str, Any]]:
        """Return the files when they stay the same: a server reads uploads again whose ids have changed."""
        found = self.sources()
        for _ in range(20):
            time.sleep(2)
            before, found = found, self.sources()
            if found == before:
                break
        return found

    def sources(self) -> dict[str, dict[str, Any]]:
        """Return the files of the library by their names."""
        found: dict[str, dict[str, Any]] = {}
        for source in self.call("/api/sources?library=default")["sources"]:
            found[source["name"]] = source
        return found


@dataclass(frozen=True)
class Left:
    """What an earlier program left: its keys, and the id of the conversation of the first one."""

    key: str
    other: str
    thread: str


def write(program: Program, folder: Path) -> Left:
    """Fill a home as people do."""
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    program.run("index", str(folder))
    key = program.run("keys", "create", "me", "--all").splitlines()[0]
    other = program.run("keys", "create", "Anna", "--library", "default").splitlines()[0]
    with program.served(key) as client:
        thread = client.ask(QUESTION)
        client.key = other
        client.upload("mill.md", UPLOAD)
    return Left(key, other, thread)


def read(program: Program, left: Left) -> None:
    """Open a home as its people would."""
    found = json.loads(program.run("search", "lamp of the lighthouse", "--json"))
    assert "1874" in json.dumps(found), found
    with program.served(left.key) as client:
        listed = [row["id"] for row in client.call("/api/threads")["threads"]]
        assert listed == [left.thread], listed
        client.ask(FOLLOWING, thread=left.thread)
        turns = client.call(f"/api/threads/{left.thread}")["turns"]
        assert [turn["status"] for turn in turns] == ["done", "done"], turns
        client.key = left.other
        assert client.call("/api/threads")["threads"] == []
        mill = client.settled()["mill.md"]
        assert client.send(mill["media"]).decode().strip() == UPLOAD.strip()
        if not mill["removable"]:  # it was added before a home noted by whom
            client.key = left.key
        client.send(f"/api/sources?library=default&ids={mill['id']}", method="DELETE")
        assert "mill.md" not in client.sources()
    states = {row["state"] for row in json.loads(program.run("doctor", "--json"))}
    assert "bad" not in states, states


def again(old: Program, home: Path) -> str:
    """Open the home with the earlier program; return in words what it does."""
    before = contents(home)
    done = old.try_to("search", "lamp of the lighthouse", "--json")
    if not done.returncode:
        return "the earlier program still opens it"
    changed = dict(contents(home).items() ^ before.items())
    assert not changed, f"the earlier program changed {sorted(changed)}"
    said = " ".join(done.stderr.split())
    assert "Traceback" not in said, said
    return f"the earlier program refuses it unchanged ({said[:60]} ...)"


def contents(home: Path) -> dict[str, str]:
    """Return the hashes of the files of a home, without its locks and its log."""
    found: dict[str, str] = {}
    for path in sorted(home.rglob("*")):
        if path.is_file() and "locks" not in path.parts and not path.name.endswith(_PASSING):
            found[str(path.relative_to(home))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


@contextmanager
def database(url: str, name: str) -> Iterator[str]:
    """Make a database on the server of an address, and drop it at the end; "" if there is no address."""
    if not url:
        yield ""
        return
    import psycopg

    with closing(psycopg.connect(url.replace("+psycopg", ""), autocommit=True)) as server:
        server.execute(f"CREATE DATABASE {name}".encode())
        try:
            yield url.rpartition("/")[0] + f"/{name}"
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def opened(commit: str, url: str, keep: Path | None) -> str:
    """Write a home with the program of a commit, open it with this one; return what works in words."""
    with tempfile.TemporaryDirectory() as place, database(url, f"home_{commit[:8]}") as base:
        folder = Path(place)
        (folder / "tree").mkdir()
        home = folder / "home"
        old = Program(checked_out(commit, folder / "tree"), folder / "old", home, base)
        left = write(old, folder / "notes")
        if keep:
            keep.mkdir(parents=True, exist_ok=True)
            (home / "about.json").write_text(json.dumps({"key": left.key, "thread": left.thread}))
            shutil.make_archive(str(keep / commit[:8]), "zip", home)
            (home / "about.json").unlink()
        read(Program(ROOT, folder / "new", home, base), left)
        return (
            f"search, keys, the conversation and its next question, upload, doctor work; {again(old, home)}"
        )


def main() -> None:
    """Read the command line, write each home, read it, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commits", type=int, nargs="+", help="how many commits ago")
    parser.add_argument("--database", default="", help="address of a PostgreSQL database")
    parser.add_argument("--keep", type=Path, help="folder for the homes as they were left")
    given = parser.parse_args()
    for ago in given.commits:
        line = ["git", "rev-list", "--max-count=1", f"--skip={ago}", "HEAD"]
        commit = subprocess.run(line, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
        print(f"{ago} commits ago ({commit[:8]}): {opened(commit, given.database, given.keep)}", flush=True)


if __name__ == "__main__":
    main()
