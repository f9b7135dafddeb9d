"""Open homes that earlier commits wrote with the program of this checkout.

    python benchmarks/old_homes.py 30 100 300
    python benchmarks/old_homes.py --keep tests/data/homes 30 100 300

For each number of commits, the program of that commit indexes two notes, makes a key and answers a question
of a conversation in its server. Then this program lists, searches, reads the conversation with the same
key, and continues it. `--keep` packs the homes of the earlier programs for the tests.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from before import ROOT, checked_out

NOTES = {
    "lighthouse.md": "# The lighthouse\n\nThe lamp of the lighthouse was first lit on 3 October 1874.\n",
    "ferry.md": "# The ferry\n\nThe ferry sails four times a day from April to October.\n",
}
QUESTION = "When was the lamp of the lighthouse first lit?"
FOLLOWING = "How often does the ferry sail?"


class Program:
    """The program of a tree, over one home."""

    def __init__(self, tree: Path, links: Path, home: Path) -> None:
        links.mkdir()
        (links / "ragweave").symlink_to(tree)
        names = {"RAGWEAVE_HOME": str(home), "PYTHONPATH": str(links), "XDG_CONFIG_HOME": str(home.parent)}
        self._environment: dict[str, str] = {}
        for name, value in os.environ.items():
            if not name.startswith("RAGWEAVE_"):
                self._environment[name] = value
        self._environment |= names
        self._folder = links

    def run(self, *words: str) -> str:
        """Run a command; return what it prints."""
        done = subprocess.run(
            [sys.executable, "-m", "ragweave.app.cli", *words],
            env=self._environment,
            cwd=self._folder,
            capture_output=True,
            text=True,
        )
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
        self._address, self._key = address, key

    def call(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send a request; return what it says."""
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        for _ in range(100):
            try:
                with urllib.request.urlopen(
                    urllib.request.Request(self._address + path, data, headers)
                ) as answer:
                    return json.load(answer)
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


def write(program: Program, folder: Path) -> tuple[str, str]:
    """Fill a home as people do; return the key and the conversation."""
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    program.run("index", str(folder))
    key = program.run("keys", "create", "me", "--all").splitlines()[0]
    with program.served(key) as client:
        return key, client.ask(QUESTION)


def read(program: Program, key: str, thread: str) -> str:
    """Open a home as its person would; return what works in words."""
    found = json.loads(program.run("search", "lamp of the lighthouse", "--json"))
    assert "1874" in json.dumps(found), found
    with program.served(key) as client:
        listed = [row["id"] for row in client.call("/api/threads")["threads"]]
        assert listed == [thread], listed
        client.ask(FOLLOWING, thread=thread)
        turns = client.call(f"/api/threads/{thread}")["turns"]
    assert [turn["status"] for turn in turns] == ["done", "done"], turns
    return "search, key, conversation and its next question work"


def main() -> None:
    """Read the command line, write each home, read it, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commits", type=int, nargs="+", help="how many commits ago")
    parser.add_argument("--keep", type=Path, help="folder for the homes as they were left")
    given = parser.parse_args()
    for ago in given.commits:
        line = ["git", "rev-list", "--max-count=1", f"--skip={ago}", "HEAD"]
        commit = subprocess.run(line, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            (folder / "tree").mkdir()
            old = Program(checked_out(commit, folder / "tree"), folder / "old", folder / "home")
            key, thread = write(old, folder / "notes")
            if given.keep:
                given.keep.mkdir(parents=True, exist_ok=True)
                (folder / "home" / "about.json").write_text(json.dumps({"key": key, "thread": thread}))
                shutil.make_archive(str(given.keep / commit[:8]), "zip", folder / "home")
                (folder / "home" / "about.json").unlink()
            works = read(Program(ROOT, folder / "new", folder / "home"), key, thread)
            print(f"{ago} commits ago ({commit[:8]}): {works}", flush=True)


if __name__ == "__main__":
    main()
