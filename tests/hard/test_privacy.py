"""By default nothing leaves the machine, and no log holds what was read, asked or answered, at any level."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ragweave.models.subprocess_env import import_path

WATCH = """
import os, sys

def seen(event, given):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        to = given[1]
        if isinstance(to, tuple) and not str(to[0]).startswith(("127.", "::1", "localhost")):
            told(f"{event} {to[0]}")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname") and given[0] not in (None, "localhost", "127.0.0.1"):
        told(f"{event} {given[0]}")

def told(what):
    at = os.open(os.path.dirname(__file__) + "/seen", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(at, f"{what} by {sys.argv[:3]}\\n".encode())
    os.close(at)

sys.addaudithook(seen)
"""
"""Lies where every Python process of the run imports it as it starts, readers and the makers of indexes as well."""

pytestmark = pytest.mark.hard

ALONE = ["unshare", "--map-root-user", "--net"]
CANARIES = {
    f"canary{word}"
    for word in ("document", "heading", "filename", "question", "followup", "query", "library")
}
SCRIPT = """
import sys
from ragweave.app.cli import main
from ragweave.corpora.store.stores import stay
stay()  # so that Chroma is asked
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def run(tmp_path: Path, home: Path):
    """Run a command in a process that sees no network where this system allows it, and is watched in any case."""
    watch = tmp_path / "watch"
    watch.mkdir()
    (watch / "sitecustomize.py").write_text(WATCH)
    able = (
        shutil.which("unshare")
        and not subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode
    )
    path = os.pathsep.join([str(watch), import_path()])
    kept = {n: v for n, v in os.environ.items() if n not in ("ANONYMIZED_TELEMETRY", "LANGSMITH_TRACING")}
    env = {**kept, "RAGWEAVE_HOME": str(home), "PYTHONPATH": path, "COLUMNS": "200"}

    def command(*argv: str, text: str = "") -> subprocess.CompletedProcess[str]:
        line = [*(ALONE if able else []), sys.executable, "-c", SCRIPT, *argv]
        return subprocess.run(
            line, env=env, input=text, capture_output=True, text=True, timeout=300, check=False
        )

    yield command
    seen = watch / "seen"
    assert not seen.exists(), seen.read_text()


def laid(folder: Path) -> Path:
    folder.mkdir()
    for n in range(4):
        (folder / f"canaryfilename {n}.md").write_text(
            f"# canaryheading {n}\n\nThe beacon of canarydocument {n} was lit in {1700 + n}.\n"
        )
    return folder


def test_a_life_without_settings_opens_no_connection_and_leaves_no_word_in_a_log(
    run, tmp_path: Path, home: Path
) -> None:
    notes = laid(tmp_path / "notes")
    (notes / "broken.pdf").write_bytes(b"%PDF-1.4 canarydocument")
    name = ["--library", "canarylibrary"]
    asked = "When was the beacon of canarydocument 2 lit, canaryquestion?"
    logs = []
    for argv, text in (
        (["index", str(notes), *name], ""),
        (["ask", asked, *name], ""),
        (["search", "canaryquery beacon", *name], ""),
        (["chat", *name], "When was the beacon of canarydocument 1 lit?\nAnd canaryfollowup?\n"),
        (["doctor", "--repair"], ""),
        (["doctor"], ""),
    ):
        done = run("--debug", *argv, text=text)
        assert done.returncode in (0, 3), (argv, done.stderr)
        logs += [line for line in done.stderr.splitlines() if " ms " in line[:12]]
    log = home / "ragweave.log"
    logs += log.read_text().splitlines() if log.exists() else []
    leaked = [line for line in logs if any(canary in line for canary in CANARIES)]
    assert not leaked, leaked


def test_the_watch_sees_a_connection(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(WATCH)
    code = "import socket; s = socket.socket(); s.settimeout(0.1); s.connect(('192.0.2.1', 9))"
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=False)
    assert "socket.connect 192.0.2.1" in (tmp_path / "seen").read_text()
