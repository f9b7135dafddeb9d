"""Ragweave beside programs that others wrote, with the same model and the same vectors (docs/compared.md).

    python benchmarks/peers/run.py build [PEER ...]           an environment for each, and the seconds it takes
    python benchmarks/peers/run.py quality PEER --chat URL    answers to the questions of against_plain_rag.py
    python benchmarks/peers/run.py speed [PEER ...]           one question, four and twenty at once; calls, tokens
    python benchmarks/peers/run.py growth [PEER ...]          passages by the thousand: indexing, disk, a question
    python benchmarks/peers/run.py life [PEER ...]            a file edited, one removed; a kill while indexing

What is measured is kept in `--out`, a JSON file a peer and topic, and not measured again; report.py prints the tables.
Environments and stores lie in `--work`. Programs are given vectors by desk.py, and replies by its script or by the
server `--chat`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from against_plain_rag import DATA, as_files, passages, questions  # noqa: E402
from desk import Desk  # noqa: E402

PEERS = ["ragweave", "llamaindex", "haystack", "langgraph_crag", "lightrag"]
LATENCY, SLOW = 0.2, 1.0
WIDTHS = (1, 4, 20)


def python_of(peer: str, work: Path) -> str:
    """Return the interpreter of a peer's environment; Ragweave has the one that runs this."""
    return sys.executable if peer == "ragweave" else str(work / "environments" / peer / "bin" / "python")


def build(peers: list[str], work: Path, out: Path) -> None:
    """Make the environment of each peer, and keep the seconds, megabytes and versions."""
    for peer in peers:
        folder, kept = work / "environments" / peer, out / f"build-{peer}.json"
        if peer == "ragweave" or kept.exists():
            continue
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip"]
        wanted = ["-q", "-r", str(HERE / peer / "requirements.txt")]
        subprocess.run([*pip, "install", "--disable-pip-version-check", *wanted], check=True, stderr=subprocess.DEVNULL)
        told = subprocess.run([*pip, "list", "--format", "json"], check=True, capture_output=True, text=True)
        held = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) // 2**20
        keep(kept, {"seconds": time.perf_counter() - began, "mb": held, "packages": len(json.loads(told.stdout))})


def keep(path: Path, figures: Any) -> None:
    """Write figures whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    part.rename(path)


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
) -> dict[str, Any]:
    """Run an adapter; return its lines, seconds, most megabytes, calls, why it failed, and all that it said.

    It is killed after `within` seconds. It may fail if `fails`; otherwise that ends the run.
    """
    before, began = len(desk.calls), time.perf_counter()
    store.mkdir(parents=True, exist_ok=True)
    env = {k: v for k, v in os.environ.items() if not k.startswith("RAGWEAVE_")} | {"PEER_URL": desk.base_url}
    process = subprocess.Popen(
        [python_of(peer, work), str(HERE / peer / "adapter.py"), verb, str(store), what],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        text=True,
    )
    if within:
        time.sleep(within)
        process.kill()
    printed, told = process.communicate("\n".join(json.dumps(r) for r in rows))
    if process.returncode and not (within or fails):
        raise SystemExit(f"{peer} {verb}: {told[-2_000:]}")
    made = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    calls = desk.calls[before:]
    return {
        "lines": made,
        "told": told.strip().splitlines()[-1][:200] if process.returncode and told.strip() else "",
        "said": f"{printed}\n{told}",
        "seconds": time.perf_counter() - began,
        "mb": next((line["mb"] for line in made if "mb" in line), 0),
        "calls": len(calls),
        "tokens_in": sum(c[0] for c in calls),
        "tokens_out": sum(c[1] for c in calls),
    }


def quality(peer: str, work: Path, out: Path, chat: str, each: int) -> None:
    """Ask one peer the questions that the arms were asked, and keep its answers as theirs are kept."""
    to = out / "arms" / f"{peer}.jsonl"
    folders = {"house": DATA / "house_dev" / "library", "hops": as_files(passages(), work / "passages")}
    made: list[dict[str, Any]] = []
    with Desk(0.0) as quiet, Desk(upstream=chat, key=peer) as desk:
        for name, folder in folders.items():
            asked = [q for q in questions(each) if q["set"] == name]
            if peer == "lightrag" and name == "hops":
                continue  # a call or two of the model for each of its passages
            store = work / "stores" / f"{peer}-{name}"
            if not (store / "done").exists():
                call(peer, work, desk if peer == "lightrag" else quiet, "index", store, str(folder))
                (store / "done").touch()
            ran = call(peer, work, desk, "ask", store, "200", asked)
            count = len(asked)
            shared = {k: ran[k] / count for k in ("calls", "tokens_in", "tokens_out")}
            made += [row(line, shared, folder) for line in ran["lines"] if line["id"]]
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in made), encoding="utf-8")


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


def speed(peers: list[str], work: Path, out: Path) -> None:
    """Ask twenty questions of house_dev: one by one, four and twenty at once, beside a model of fixed latency.

    The programs take turns at each width, so that a busy minute of the machine meets all of them.
    """
    folder = DATA / "house_dev" / "library"
    asked = [q for q in questions(4) if q["set"] == "house" and not q["previous"]][:20]
    figures: dict[str, dict[str, Any]] = {}
    for peer in peers:
        if (out / f"speed-{peer}.json").exists():
            continue
        store = work / "stores" / f"{peer}-speed"
        shutil.rmtree(store, ignore_errors=True)
        with Desk(LATENCY) as desk:
            ran = call(peer, work, desk, "index", store, str(folder))
            kept = {k: ran[k] for k in ("seconds", "mb", "calls", "tokens_in")}
            figures[peer] = {"index": kept | {"width": desk.max_in_flight}}
    for name, width, latency in [*((str(w), w, LATENCY) for w in WIDTHS), ("slow", WIDTHS[-1], SLOW)]:
        for peer, made in figures.items():
            with Desk(latency) as desk:
                ran = call(peer, work, desk, "ask", work / "stores" / f"{peer}-speed", str(width), asked)
            took = sorted(line["seconds"] for line in ran["lines"] if line["id"])
            whole = next(line for line in ran["lines"] if not line["id"])
            made[name] = {
                "all": whole["seconds"],
                "cpu": whole["cpu"] / len(took),
                "median": took[len(took) // 2],
                "p95": took[int(0.95 * len(took))],
                "calls": ran["calls"] / len(took),
                "tokens_in": ran["tokens_in"] / len(took),
                "failed": sum("error" in line for line in ran["lines"]),
            }
    for peer, made in figures.items():
        keep(out / f"speed-{peer}.json", made)


def growth(peers: list[str], work: Path, out: Path) -> None:
    """Index 1,000 and 10,000 passages, and search them: those of HotpotQA, and more made of their sentences."""
    asked = [{"id": q["id"], "question": q["question"]} for q in questions(4) if q["set"] == "hops"][:20]
    for count in (1_000, 10_000):
        folder = work / "growth" / str(count)
        if not folder.exists():
            write(folder, passages(), count)
        for peer in peers:
            kept = out / f"growth-{peer}-{count}.json"
            if kept.exists() or peer == "lightrag":  # its graph takes a call or two of the model for each passage
                continue
            store = work / "stores" / f"{peer}-{count}"
            shutil.rmtree(store, ignore_errors=True)
            with Desk(0.0) as desk:
                first = call(peer, work, desk, "index", store, str(folder))
                ran = call(peer, work, desk, "find", store, "1", asked)
            took = sorted(line["seconds"] for line in ran["lines"] if line["id"])
            disk = sum(p.stat().st_size for p in store.rglob("*") if p.is_file()) // 2**20
            figures = {"index": first["seconds"], "mb": first["mb"], "disk": disk, "open": ran["seconds"]}
            keep(kept, figures | {"find": took[len(took) // 2]})


def life(peers: list[str], work: Path, out: Path) -> None:
    """Index house_dev's library, edit a file, remove one, index again; then kill the indexing of 1,000 passages."""
    texts = passages()
    for peer in peers:
        kept, folder, store = out / f"life-{peer}.json", work / "life" / peer, work / "stores" / f"{peer}-life"
        if kept.exists() or peer == "lightrag":
            continue
        for old in (folder, store):
            shutil.rmtree(old, ignore_errors=True)
        write(folder, texts, 1_000)
        edited, removed, last = (folder / "00" / f"{n:06d}.md" for n in (3, 5, 990))
        asked = [{"id": "removed", "question": removed.read_text(encoding="utf-8")[:200]}]
        asked += [{"id": "edited", "question": "What does the zorvex of Quellmoor weigh?"}]
        asked += [{"id": "last", "question": last.read_text(encoding="utf-8")[:200]}]
        with Desk(0.0) as desk:
            first = call(peer, work, desk, "index", store, str(folder))["seconds"]
            edited.write_text("# Zorvex\n\nThe zorvex of Quellmoor weighs 4,711 kilograms.\n", encoding="utf-8")
            removed.unlink()
            again = call(peer, work, desk, "index", store, str(folder))["seconds"]
            found = {r["id"]: r["read"] for r in call(peer, work, desk, "find", store, "1", asked)["lines"] if r["id"]}
            figures = {
                "first": first,
                "again": again,
                "edited": edited.name in [Path(f).name for f in found["edited"][:1]],
                "removed": removed.name in [Path(f).name for f in found["removed"]],
            }
            shutil.rmtree(store)
            call(peer, work, desk, "index", store, str(folder), within=first / 2)
            began = time.perf_counter()
            call(peer, work, desk, "index", store, str(folder))
            figures["after_kill"] = time.perf_counter() - began
            found = {r["id"]: r["read"] for r in call(peer, work, desk, "find", store, "1", asked)["lines"] if r["id"]}
            names = [Path(f).name for f in found["last"]]
            figures |= {"last": names.count(last.name)}
        keep(kept, figures)


def write(folder: Path, texts: list[str], count: int) -> None:
    """Write texts as files, a thousand a folder; those missing to `count` are five sentences each, drawn."""
    dice, part = random.Random(0), folder.with_suffix(".part")
    said = [s for text in texts for s in re.split(r"(?<=\.)\s+", text.split("\n\n", 1)[1])]
    for n in range(count):
        text = texts[n] if n < len(texts) else f"# Passage {n}\n\n{' '.join(dice.sample(said, 5))}\n"
        file = part / f"{n // 1000:02d}" / f"{n:06d}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    part.rename(folder)


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
    return parser.parse_args()


def main() -> None:
    """Run what is not kept yet."""
    given = options(__doc__, "build", "quality", "speed", "growth", "life")
    if given.verb == "build":
        build(given.peers, given.work, given.out)
    elif given.verb == "quality":
        for peer in given.peers:
            quality(peer, given.work, given.out, given.chat, given.each)
    else:
        {"speed": speed, "growth": growth, "life": life}[given.verb](given.peers, given.work, given.out)


if __name__ == "__main__":
    main()
