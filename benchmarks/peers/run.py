"""Ragweave beside programs that others wrote, with the same model and the same vectors (docs/results.md).

    python benchmarks/peers/run.py build [PEER ...]             an environment for each
    python benchmarks/peers/run.py quality PEER --chat URL      answers to the questions of against_plain_rag.py
    python benchmarks/peers/run.py speed [PEER ...]             one question, four and twenty at once

What is measured is kept in `--out`, a file a topic with a line a program, and not measured again; growing.py
measures larger libraries, report.py prints the tables. Environments and stores lie in `--work`. Programs
are given vectors by desk.py, and replies by its script or by the server `--chat`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from desk import Desk  # noqa: E402
from question_sets import DATA, as_files, passages, questions, read  # noqa: E402

SHARED = {
    "llamaindex_sub": "llamaindex",
    "langgraph_self": "langgraph_crag",
    "langgraph_adaptive": "langgraph_crag",
}
"""Programs that run in the environment of another."""
GRAPHS = ("lightrag", "nano_graphrag")
"""Programs whose index takes a call or two of the model for each passage."""
PEERS = ["ragweave", "llamaindex", "llamaindex_sub", "haystack", "txtai", "langgraph_crag", "langgraph_self"]
PEERS += ["langgraph_adaptive", "lightrag", "nano_graphrag", "open_webui"]
LATENCY, SLOW = 0.2, 1.0
WIDTHS = (1, 4, 20)


def python_of(peer: str, work: Path) -> str:
    """Return the interpreter of a peer's environment; Ragweave has the one that runs this."""
    folder = work / "environments" / SHARED.get(peer, peer)
    return sys.executable if peer == "ragweave" else str(folder / "bin" / "python")


def build(peers: list[str], work: Path) -> None:
    """Make the environment of each peer that has none yet.

    The variables of pip count: with PIP_FIND_LINKS and PIP_NO_INDEX the packages come from a folder.
    """
    packages = json.loads((HERE / "packages.json").read_text(encoding="utf-8"))
    for peer in peers:
        folder = work / "environments" / peer
        if peer not in packages or (folder / "built").exists():
            continue
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, *packages[peer]], check=True, stderr=subprocess.DEVNULL)
        (folder / "built").touch()


def measured(out: Path, topic: str) -> dict[str, dict[str, Any]]:
    """Return the figures of a topic by what they are of: a program, or a program and a number of passages."""
    path = out / f"{topic}.jsonl"
    return {row.pop("of"): row for row in read(path)} if path.exists() else {}


def keep(out: Path, topic: str, of: str, figures: dict[str, Any]) -> None:
    """Add figures to those of a topic; the file is written whole or not at all."""
    rows = measured(out, topic) | {of: figures}
    lines = [json.dumps({"of": name, **row}, ensure_ascii=False) + "\n" for name, row in rows.items()]
    _write(out / f"{topic}.jsonl", "".join(lines))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.rename(path)


def started(
    peer: str, work: Path, desk: Desk, verb: str, store: Path, what: str, stderr: int = subprocess.PIPE
) -> subprocess.Popen[str]:
    """Start an adapter."""
    store.mkdir(parents=True, exist_ok=True)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("RAGWEAVE_", "PYTHONDONTWRITE"))} | {
        "PEER_URL": desk.base_url
    }
    return subprocess.Popen(
        [python_of(peer, work), str(HERE / "adapters" / f"of_{peer}.py"), verb, str(store), what],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=env,
        text=True,
    )


def spent_by(pid: int, most: int = 13) -> float:
    """Return the seconds of the processor that a process itself has taken; with `most` 15, its ended children too."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, fields[11:most])) / os.sysconf("SC_CLK_TCK")


def call(
    peer: str,
    work: Path,
    desk: Desk,
    verb: str,
    store: Path,
    what: str,
    rows: Any = (),
    within: float = 0.0,
    fails: bool = False,
    limit: float | None = None,
) -> dict[str, Any]:
    """Run an adapter; return its lines, seconds, most megabytes, calls, why it failed, and all that it said.

    It is killed after `within` seconds of the processor, or after `limit` of the clock; `spent` is then what
    it took. It may fail if `fails`; otherwise that ends the run.
    """
    before, encoding, began = len(desk.calls), desk.encoding, time.perf_counter()
    process = started(peer, work, desk, verb, store, what)
    if within:
        while process.poll() is None and spent_by(process.pid) < within:
            time.sleep(0.02)
        process.kill()
    asked, taken = "\n".join(json.dumps(r) for r in rows), 0.0
    try:
        printed, told = process.communicate(asked, timeout=limit)
    except subprocess.TimeoutExpired:
        taken = spent_by(process.pid, 15)
        process.kill()
        printed, told = process.communicate()
    if process.returncode and not (within or fails or taken):
        raise SystemExit(f"{peer} {verb}: {told[-2_000:]}")
    made = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    calls = desk.calls[before:]
    return {
        "lines": made,
        "told": told.strip().splitlines()[-1][:200] if process.returncode and told.strip() else "",
        "said": f"{printed}\n{told}",
        "killed": process.returncode == -signal.SIGKILL,
        "spent": taken,
        "seconds": time.perf_counter() - began,
        "mb": next((line["mb"] for line in made if "mb" in line), 0),
        "encoding": desk.encoding - encoding,
        "calls": len(calls),
        "tokens_in": sum(c[0] for c in calls),
        "tokens_out": sum(c[1] for c in calls),
    }


def quality(peer: str, work: Path, out: Path, chat: str, each: int) -> None:
    """Ask one peer the questions that the arms were asked, and keep its answers as theirs are kept."""
    to = out / "arms.jsonl"
    folders = {"house": DATA / "house_dev" / "library", "hops": as_files(passages(), work / "passages")}
    made: list[dict[str, Any]] = []
    with Desk(0.0) as quiet, Desk(upstream=chat, key=peer) as desk:
        for name, folder in folders.items():
            asked = [q for q in questions(each) if q["set"] == name]
            if name == "hops" and (peer in GRAPHS or peer == "open_webui"):  # its files go up one by one
                continue
            store = work / "stores" / f"{peer}-{name}"
            if not (store / "done").exists():
                call(peer, work, desk if peer in GRAPHS else quiet, "index", store, str(folder))
                (store / "done").touch()
            ran = call(peer, work, desk, "ask", store, "200", asked)
            count = len(asked)
            shared = {k: ran[k] / count for k in ("calls", "tokens_in", "tokens_out")}
            made += [row(line, shared, folder) for line in ran["lines"] if line["id"]]
    others = [r for r in read(to) if r["arm"] != peer] if to.exists() else []
    made = [*others, *({"arm": peer, **r} for r in made)]
    _write(to, "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in made))


def row(line: dict[str, Any], shared: dict[str, float], folder: Path) -> dict[str, Any]:
    """Return an answer as the arms keep theirs; one that cites nothing or says UNKNOWN declines."""
    cited = {int(n) for n in re.findall(r"\[(\d+)\]", line["answer"])}
    files = [os.path.relpath(f, folder) if f else "" for f in line["read"]]
    return {
        "id": line["id"],
        "answer": line["answer"],
        "abstained": not cited or "UNKNOWN" in line["answer"],
        **shared,
        "read": files,
        "kept": files,
        "cited": [f for n, f in enumerate(files, 1) if n in cited],
        "seconds": round(line["seconds"], 1),
        **({"error": line["error"]} if "error" in line else {}),
    }


class Turns:
    """A program that stays open over a store, asked a round of questions at a time."""

    def __init__(self, peer: str, work: Path, store: Path) -> None:
        self.desk = Desk(LATENCY)
        self.desk.__enter__()
        self.process = started(peer, work, self.desk, "turns", store, "-", stderr=subprocess.DEVNULL)

    def lines(self) -> list[dict[str, Any]]:
        """Return what it prints up to the end of a round, or to its being ready."""
        made: list[dict[str, Any]] = []
        while not made or made[-1].get("id", "-"):
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit(f"a program ended: {self.process.args}")
            made += [json.loads(line)] if line.startswith("{") else []
            if made and "ready" in made[-1]:
                break
        return made

    def round_of(self, rows: list[dict[str, Any]], width: int, latency: float) -> dict[str, Any]:
        """Ask, and return the seconds of the middle question, of the processor, and calls."""
        self.desk.latency, before, encoding = latency, len(self.desk.calls), self.desk.encoding
        self.process.stdin.write(json.dumps({"width": width, "rows": rows}) + "\n")
        self.process.stdin.flush()
        *lines, whole = self.lines()
        took, calls = sorted(line["seconds"] for line in lines), self.desk.calls[before:]
        return {
            "all": whole["seconds"],
            "cpu": whole["cpu"] / len(took),
            "encoding": (self.desk.encoding - encoding) / len(took),
            "median": took[len(took) // 2],
            "p95": took[int(0.95 * len(took))],
            "calls": len(calls) / len(took),
            "tokens_in": sum(c[0] for c in calls) / len(took),
            "failed": sum("error" in line for line in lines),
        }

    def close(self) -> None:
        """End the program."""
        self.process.terminate()
        self.process.communicate()
        self.desk.__exit__(None, None, None)


def speed(peers: list[str], work: Path, out: Path) -> None:
    """Ask twenty questions of house_dev: one by one, four and twenty at once, beside a model of fixed latency.

    The programs stay open and take turns at each width, so that a busy minute of the machine meets all of
    them.
    """
    folder = DATA / "house_dev" / "library"
    asked = [q for q in questions(4) if q["set"] == "house" and not q["previous"]][:20]
    figures: dict[str, dict[str, Any]] = {}
    for peer in peers:
        store = work / "stores" / f"{peer}-speed"
        shutil.rmtree(store, ignore_errors=True)
        with Desk(LATENCY) as desk:
            ran = call(peer, work, desk, "index", store, str(folder))
        figures[peer] = {"index": {k: ran[k] for k in ("seconds", "mb", "calls", "tokens_in")}}
    opened = {peer: Turns(peer, work, work / "stores" / f"{peer}-speed") for peer in peers}
    for turn in opened.values():
        turn.lines()
        turn.round_of(asked[:1], 1, 0.0)
    for name, width, latency in [*((str(w), w, LATENCY) for w in WIDTHS), ("slow", WIDTHS[-1], SLOW)]:
        for peer, turn in opened.items():
            figures[peer][name] = turn.round_of(asked, width, latency)
            print(name, peer, figures[peer][name], flush=True)
    for peer, turn in opened.items():
        turn.close()
        keep(out, "speed", peer, figures[peer])


def options(about: str | None, *verbs: str) -> argparse.Namespace:
    """Read the command line, with a verb where there are several."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    if verbs:
        parser.add_argument("verb", choices=verbs)
    parser.add_argument("peers", nargs="*", default=PEERS)
    parser.add_argument("--work", type=Path, default=HERE / ".work")
    parser.add_argument("--out", type=Path, default=HERE / "records")
    parser.add_argument("--chat", default="", help="OpenAI-compatible server whose replies somebody writes")
    parser.add_argument("--each", type=int, default=2, help="questions of each kind of house_dev")
    parser.add_argument("--passages", type=int, nargs="*", default=[1_000, 10_000], help="passages of growth")
    parser.add_argument("--limit", type=float, help="seconds after which a command of growth is ended")
    return parser.parse_args()


def main() -> None:
    """Run what is not kept yet."""
    given = options(__doc__, "build", "quality", "speed")
    if given.verb == "build":
        build(given.peers, given.work)
    elif given.verb == "quality":
        for peer in given.peers:
            quality(peer, given.work, given.out, given.chat, given.each)
    else:
        speed(given.peers, given.work, given.out)


if __name__ == "__main__":
    main()
