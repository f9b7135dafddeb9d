"""What docs/deploy.md and deploy/ have an operator do, in plain folders instead of /opt, /etc, /var and /data."""

from __future__ import annotations

import asyncio
import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pathspec
import pytest

from ragweave.tests.docs.pages import ROOT
from ragweave.tests.serve.conftest import QUESTION
from ragweave.tests.support.serving import ask_over_http, killed_at_the_end

PAGE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
UNIT = ROOT / "deploy" / "ragweave.service"
SHIMS = {
    "sudo": 'exec "$@"',
    "systemctl": 'echo "$@" >> "$CALLED"',
    "docker": 'echo "$@" >> "$CALLED"',
    "useradd": 'echo "$@" >> "$CALLED"',
    "systemd-run": """while :; do case $1 in
  -p) shift 2;; -E) export "$2"; shift 2;; --*) shift;; *) break;;
esac; done; exec "$@" """,
}
"""Programs that need root or a daemon, and what stands in for them."""


def block(heading: str, number: int = 0) -> str:
    """Return a fenced block below a heading of docs/deploy.md."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```\n(.*?)^```$", section, re.M | re.S)[number]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of a machine's root. What pip would fetch is borrowed from this environment."""
    shims = tmp_path / "bin"
    shims.mkdir()
    for name, line in SHIMS.items():
        (shims / name).write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        (shims / name).chmod(0o755)
    for name in ("opt", "etc/systemd/system", "var/lib/ragweave", "data", "srv/documents"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{shims}:{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("CALLED", str(tmp_path / "called"))
    monkeypatch.setenv("PYTHONPATH", ":".join(p for p in sys.path if p.endswith("site-packages")))
    monkeypatch.setenv("PIP_NO_DEPS", "1")
    monkeypatch.setenv("PIP_NO_BUILD_ISOLATION", "0")  # no build isolation, as pip reads it
    return tmp_path


def bash(machine: Path, lines: str, folder: Path, sent: str = "") -> None:
    """Run lines with the folders of that machine; none may fail."""
    there = re.sub(r"(?<![\w.$/-])/(?=(opt|etc|var|src|srv|data)\b)", f"{machine}/", lines)
    there = there.replace("-o ragweave -g ragweave ", "")  # nobody else is there
    command = ["bash", "-euo", "pipefail", "-c", there]
    done = subprocess.run(command, cwd=folder, input=sent, capture_output=True, text=True)
    assert done.returncode == 0, f"{there}\n{done.stdout}{done.stderr}"


def copy_checkout(to: Path) -> None:
    """Copy what Docker sends to its daemon: the tree without what .dockerignore names."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    left_out = pathspec.PathSpec.from_lines(
        "gitwildmatch", [f"/{p}" if "/" not in p and "*" not in p else p for p in lines]
    )

    def ignored(folder: str, names: list[str]) -> set[str]:
        at = Path(folder).relative_to(ROOT)
        return {name for name in names if left_out.match_file((at / name).as_posix())}

    shutil.copytree(ROOT, to, ignore=ignored)


def checks(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True).returncode == 0


@asynccontextmanager
async def installed(program: Path, home: Path, words: list[str]) -> AsyncIterator[httpx.AsyncClient]:
    """Run `ragweave serve` as it was installed, from another folder."""
    words = ["127.0.0.1" if word == "0.0.0.0" else word for word in words]
    process = subprocess.Popen(  # noqa: ASYNC220
        [str(program), *words, "--port", "0"], cwd=home, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "RAGWEAVE_HOME": str(home)},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        found = re.search(r"http://[\d.:]+", process.stdout.readline())
        assert found is not None
        async with httpx.AsyncClient(base_url=found.group(), timeout=60, trust_env=False) as client:
            yield client
    finally:
        process.terminate()
        process.wait(30)


async def test_the_steps_of_the_image_make_a_program_that_serves_and_passes_its_own_check(
    machine: Path,
) -> None:
    copy_checkout(machine / "src")
    assert not [
        name for name in (".git", ".env", "tests", "deploy/secrets") if (machine / "src" / name).exists()
    ]
    steps = dict.fromkeys(("RUN", "CMD", "HEALTHCHECK", "USER"), "")
    for word, rest in re.findall(r"^(RUN|CMD|HEALTHCHECK|USER) (.+)$", DOCKERFILE, re.M):
        steps[word] = rest
        if word == "RUN":
            bash(machine, rest.replace("${EXTRAS}", "serve"), machine)
    assert steps["USER"] == "ragweave" and "--uid 10001" in (machine / "called").read_text()
    program, *words = json.loads(steps["CMD"])
    async with installed(machine / "opt/ragweave/bin" / program, machine / "data", words) as client:
        assert (await client.get("/readyz")).json() == {"status": "ok"}
        python, *check = json.loads(steps["HEALTHCHECK"].partition("CMD ")[2])
        assert python == "python"
        there = [
            sys.executable,
            *(word.replace("127.0.0.1:8765", f"127.0.0.1:{client.base_url.port}") for word in check),
        ]
        assert await asyncio.to_thread(checks, there)
    assert not await asyncio.to_thread(checks, there)  # nobody answers any more


def test_every_package_of_the_image_is_pinned_and_every_service_names_a_version() -> None:
    assert "-c /src/constraints.txt" in DOCKERFILE and re.search(
        r"^ARG PYTHON=python:3\.\d+\.\d+-", DOCKERFILE, re.M
    )
    images = re.findall(r"image: (\S+)", (ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
    assert images and all(re.search(r":\d+\.\d+", image) for image in images)


async def test_the_unit_is_installed_as_the_page_says_and_its_command_serves(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_checkout(machine / "checkout")
    bash(machine, block("systemd"), machine / "checkout")
    made = configparser.ConfigParser(strict=False, interpolation=None)
    made.optionxform = str  # type: ignore[assignment, method-assign]
    made.read(machine / "etc/systemd/system/ragweave.service")
    service = made["Service"]
    assert (machine / "etc/ragweave/chat_key").stat().st_mode & 0o777 == 0o600
    assert (machine / "called").read_text().split() == ["enable", "--now", "ragweave"]
    name, _, value = (machine / "etc/ragweave/settings.env").read_text().strip().partition("=")
    monkeypatch.setenv(name, value)
    monkeypatch.setenv("RAGWEAVE_CHAT_KEY_FILE", str(machine / "etc/ragweave/chat_key"))
    program, *words = shlex.split(service["ExecStart"])
    async with installed(Path(f"{machine}{program}"), machine / "var/lib/ragweave", words) as client:
        assert (await client.get("/readyz")).json() == {"status": "ok"}
    (machine / "srv/documents/mill.md").write_text("# The mill\n\nThe mill has nine wheels.\n")
    bash(machine, block("systemd", 1), machine)
    monkeypatch.setenv("RAGWEAVE_HOME", str(machine / "var/lib/ragweave"))
    for words, shown in (("keys list", " me "), ("sources", "mill.md")):
        done = subprocess.run(  # noqa: ASYNC221
            [f"{machine}{program}", *words.split()], capture_output=True, text=True, cwd=machine
        )
        assert shown in done.stdout, done


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/opt/ragweave/bin/ragweave", sys.executable), encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_secrets_of_the_containers_are_made_as_the_page_says(machine: Path) -> None:
    (machine / "deploy").mkdir()
    bash(machine, block("An image, and all of it together"), machine, "sk-test\n")
    secrets = {path.name: path.read_text() for path in (machine / "deploy/secrets").iterdir()}
    assert (
        secrets["chat_key"] == "sk-test" and secrets["database_password"].strip() in secrets["database_url"]
    )
    compose: Any = (ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8")
    assert {*re.findall(r"file: secrets/(\w+)", compose)} == secrets.keys()
    assert [line.split()[3] for line in (machine / "called").read_text().splitlines()] == [
        "build",
        "run",
        "up",
    ]


async def test_a_home_that_was_backed_up_is_restored_with_its_library_keys_and_conversations(
    machine: Path, notes: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = machine / "var/lib/ragweave"
    shutil.copytree(home, kept, dirs_exist_ok=True)
    here = {"RAGWEAVE_HOME": str(kept)}
    async with killed_at_the_end(**here) as (client, _):
        asked = await ask_over_http(client, QUESTION)
    bash(machine, block("Backup and restore"), machine)
    (kept / "serve.sqlite").write_bytes(b"broken")
    (kept / "left by somebody").touch()
    bash(machine, block("Backup and restore", 1), machine)
    assert not (kept / "left by somebody").exists()
    async with killed_at_the_end(**here) as (client, _):
        (thread,) = (await client.get("/api/threads")).json()["threads"]
        assert thread["id"] == asked[0]["thread"]
        again = await ask_over_http(client, QUESTION, thread=thread["id"])
        assert "1874" in again[-2]["answer"]["text"] and again[0]["turn"] == 2
