"""Install the checkout into the environment that runs this: by uv if it can be had, else by pip.

python .ci/install.py '.[dev]'

uv takes a tenth of pip's processor time and downloads in parallel. It does not read pip's configuration, so
that its indexes, folders of wheels, proxy and certificates are passed on. If uv fails for any reason, pip
installs, and a line says so.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PIP = [sys.executable, "-m", "pip"]
QUIET = ["--progress-bar", "off", "--disable-pip-version-check"]
OPTIONS = {
    "index-url": "--default-index",
    "extra-index-url": "--index",
    "find-links": "--find-links",
    "trusted-host": "--allow-insecure-host",
    "constraint": "--constraint",
}
"""Keys of pip's configuration with one or more values, and the options of uv that mean the same."""
VARIABLES = {"cert": "SSL_CERT_FILE", "proxy": "ALL_PROXY"}
"""Keys of pip's configuration that are environment variables of uv."""
STEPS = ("Resolved", "Prepared", "Installed")
"""First words of the lines of uv that are shown; the others name each package."""
OLDEST = (3, 11)
EVERY = 25
"""Packages that pip finds between two lines of progress."""


def configured() -> dict[str, list[str]]:
    """Return pip's configuration: the values of each key; the environment counts before the files."""
    listed = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True, check=False)
    found: dict[str, list[str]] = {}
    for line in listed.stdout.splitlines():
        name, _, value = line.partition("=")
        key = name.rpartition(".")[2]
        if name.startswith(":env:") or key not in found:
            found[key] = str(ast.literal_eval(value)).split()
    return found


def uv_options(settings: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the options of uv that mean what pip's configuration says."""
    options = ["--index-strategy", "unsafe-best-match"]  # as pip takes the best of all indexes
    for key, option in OPTIONS.items():
        for value in settings.get(key, []):
            options += [option, value]
    if "no-index" in settings:
        options.append("--no-index")
    return options


def by_uv(wanted: str, settings: Mapping[str, Sequence[str]]) -> str:
    """Install by uv, and return why that failed, or ""."""
    command = [*PIP, "install", "--quiet", *QUIET, "-c", str(ROOT / "constraints.txt"), "uv"]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        return "pip cannot install it"
    command = [sys.executable, "-m", "uv", "pip", "install", "--no-progress", "--python", sys.executable]
    command += uv_options(settings)
    environment = dict(os.environ)
    for key, variable in VARIABLES.items():
        for value in settings.get(key, []):
            environment.setdefault(variable, value)
    command += ["--constraint", str(ROOT / "constraints.txt"), "--editable", wanted]
    return shown(command, environment, uv_line)


def by_pip(wanted: str) -> str:
    """Install by pip, and return why that failed, or ""."""
    command = [*PIP, "install", *QUIET, "--no-compile", "-c", str(ROOT / "constraints.txt")]
    found = 0

    def pip_line(line: str) -> str:
        nonlocal found
        if line.startswith("Installing collected"):
            return f"installing {found} packages"
        found += line.startswith("Collecting")
        new = line.startswith("Collecting") and found % EVERY == 0
        return f"found {found} packages" if new else ""

    return shown([*command, "--editable", wanted], dict(os.environ), pip_line)


def uv_line(line: str) -> str:
    """Return a line of uv if it names a step, else ""."""
    return line if line.startswith(STEPS) else ""


def shown(command: Sequence[str], environment: dict[str, str], pick: Callable[[str], str]) -> str:
    """Run a command in the checkout and print what `pick` makes of its lines; return why it failed."""
    running = subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    last = ""
    for line in running.stdout or ():
        last = line.strip() or last
        words = pick(line.strip())
        if words:
            print(f"  {words}", flush=True)
    return (last or f"it ended with {running.returncode}") if running.wait() else ""


def main(wanted: Iterable[str]) -> int:
    """Install what is wanted; return the exit code."""
    if sys.version_info < OLDEST:
        version = ".".join(map(str, sys.version_info[:2]))
        print(
            f"  Ragweave needs Python 3.11 or newer, and {sys.prefix} has {version}: remove that folder and"
            " name a newer Python, as in: make demo PYTHON=python3.12",
            file=sys.stderr,
        )
        return 1
    for one in wanted:
        why = by_uv(one, configured())
        if why:
            print(f"  uv could not install the packages ({why}); pip does, which takes longer", flush=True)
            why = by_pip(one)
        if why:
            print(f"  pip could not install the packages: {why}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
