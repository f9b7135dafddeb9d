"""Build wheel and sdist into dist/, and try the wheel in an environment and a folder outside the checkout.

python .ci/packages.py

What Ragweave needs is borrowed from the environment that runs this. The wheel is installed beside it, asked
what its version is, indexes a folder, answers from it, serves the page, and is asked for what an extra that
is missing needs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IN_THE_SDIST = ("constraints.txt", "Makefile", "langgraph.json", "deploy/Dockerfile", "docs/cli.md")
MISSING = "from ragweave.models.errors import MissingExtra; print(MissingExtra('Speech', 'video'))"
SERVED = (
    "from ragweave.serve.app import create_app; from starlette.testclient import TestClient; "
    "c = TestClient(create_app(), base_url='http://127.0.0.1'); assert c.get('/').status_code == 200"
)


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """Run a program and return what it prints; end with its errors if it fails."""
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("RAGWEAVE_", "PYTHON"))
    }
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, env={**clean, **environment}, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def wheel_of(source: Path, to: Path) -> Path:
    """Build the wheel of a source tree."""
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps")
    run(*pip, "--wheel-dir", to, source, cwd=to)
    return next(to.glob("*.whl"))


def sdist_of(source: Path, to: Path) -> Path:
    """Build the sdist of a source tree, by the function that its build backend offers."""
    make = f"import setuptools.build_meta as b; print(b.build_sdist({str(to)!r}))"
    return to / run(sys.executable, "-c", make, cwd=source).splitlines()[-1]


def files(wheel: Path) -> set[str]:
    """Return the names of the files in a wheel."""
    with zipfile.ZipFile(wheel) as packed:
        return {name for name in packed.namelist() if not name.endswith("RECORD")}


def try_wheel(wheel: Path, folder: Path) -> None:
    """Install the wheel and use it."""
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    places = [place for place in sys.path if place.endswith("site-packages")]
    (own,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (own / "borrowed.pth").write_text("\n".join(places), encoding="utf-8")
    pip = (
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--disable-pip-version-check",
    )
    run(*pip, "--no-deps", "--no-index", "--ignore-installed", wheel, cwd=folder)
    notes = folder / "notes"
    notes.mkdir()
    (notes / "mill.md").write_text("# The mill\n\nThe mill of Ostrow has nine wheels.\n", encoding="utf-8")
    home = {"RAGWEAVE_HOME": str(folder / "home")}
    where = run(python, "-c", "import ragweave; print(ragweave.__file__)", cwd=folder).strip()
    if not where.startswith(str(own)):
        sys.exit(f"the wheel was not used: ragweave came from {where}")
    ragweave = folder / "venv" / "bin" / "ragweave"
    run(ragweave, "--version", cwd=folder)
    run(ragweave, "index", notes, cwd=folder, **home)
    if "nine wheels" not in run(
        ragweave, "ask", "How many wheels has the mill of Ostrow?", cwd=folder, **home
    ):
        sys.exit("the wheel does not answer from what it has indexed")
    run(python, "-c", SERVED, cwd=folder, **home)
    told = run(python, "-c", MISSING, cwd=folder)
    if "checkout" in told or "pip install 'ragweave[video]'" not in told:
        sys.exit(f"the remedy of a missing extra is no help with a wheel: {told}")


def main() -> None:
    """Build both, compare them, and try the wheel."""
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        source = folder / "source"  # building writes beside what it builds
        tracked = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT).split(
            "\0"
        )
        for name in filter(None, tracked):
            if (ROOT / name).is_file():
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, source / name)
        (folder / "again").mkdir()
        sdist = sdist_of(source, dist)
        with tarfile.open(sdist) as packed:
            packed.extractall(folder / "unpacked", filter="data")
        (unpacked,) = (folder / "unpacked").iterdir()
        if lacking := [name for name in IN_THE_SDIST if not (unpacked / name).is_file()]:
            sys.exit(f"the sdist lacks {', '.join(lacking)}")
        wheel = wheel_of(source, dist)
        if different := files(wheel) ^ files(wheel_of(unpacked, folder / "again")):
            sys.exit(f"the wheel of the sdist differs: {', '.join(sorted(different))}")
        try_wheel(wheel, folder)
    size = {path.name: round(path.stat().st_size / 1e6, 1) for path in dist.iterdir()}
    print(*(f"{name}: {megabytes} MB" for name, megabytes in size.items()), sep="\n")
    print(f"Both were built, and the wheel answers outside the checkout ({re.sub('-.*', '', wheel.name)}).")


if __name__ == "__main__":
    main()
