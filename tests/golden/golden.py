"""What Ragweave says today, set against what was recorded: a net under changes that are meant to change nothing.

`make golden` compares and exits with 1 where anything differs; `make golden-record` writes the recordings
anew, for a change that is meant (look at the diff first). Only the commands and the public API are used, so
that every module may be moved or renamed. A section whose public data is absent is skipped, and says so."""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DATA = Path(os.environ.get("RAGWEAVE_DATA", ROOT.parent / "shared" / "data")).resolve()
ASKED: dict[str, Any] = json.loads((HERE / "questions.json").read_text(encoding="utf-8"))
# One date for every file that is indexed: a file's own time decides between versions, and a checkout sets it
# anew. What is left is the clock itself, which tells whether a year that a question names is over.
FILED = 1_764_288_000
Entries = dict[str, Any]


class Skipped(Exception):
    """A section cannot be taken here."""


def data(name: str) -> Path:
    """Return the folder of a public data set."""
    if not (DATA / name).is_dir():
        raise Skipped(
            f"the public data set {name} is not beside the project; set RAGWEAVE_DATA to its folder"
        )
    return DATA / name


class Desk:
    """A throw-away folder with its home, its copies of what is indexed, and an environment without settings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {
            k: v for k, v in os.environ.items() if not k.startswith("RAGWEAVE_") and k != "TAVILY_API_KEY"
        }
        # Wide, so that the length of the folder's name breaks no line.
        self.env |= {
            "RAGWEAVE_HOME": str(folder / "home"),
            "COLUMNS": "1000",
            "NO_COLOR": "1",
            "TERM": "dumb",
        }
        self.env |= {"PYTHONUTF8": "1", "LANGSMITH_TRACING": "false", "ANONYMIZED_TELEMETRY": "False"}

    def copy(self, source: Path, name: str) -> Path:
        """Copy a folder and give its files their date."""
        shutil.copytree(source, self.folder / name)
        return self.date(name)

    def write(self, name: str, files: Iterable[tuple[str, str]]) -> Path:
        """Write files into a folder and give them their date."""
        (self.folder / name).mkdir()
        for file, text in files:
            (self.folder / name / file).write_text(text, encoding="utf-8")
        return self.date(name)

    def date(self, name: str) -> Path:
        """Give every file of a folder the same date; the folder is returned as it is typed."""
        for path in (self.folder / name).rglob("*"):
            os.utime(path, (FILED, FILED))
        return Path(name)

    def start(self, argv: list[str], typed: str = "") -> subprocess.CompletedProcess[str]:
        """Run a program in the folder, where no `.env` lies."""
        return subprocess.run(
            argv, input=typed, capture_output=True, text=True, cwd=self.folder, env=self.env, timeout=600
        )

    def ragweave(self, *argv: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command of Ragweave."""
        return self.start([str(Path(sys.executable).parent / "ragweave"), *argv], typed)

    def ask(
        self, paths: list[Path], conversations: list[list[str]], mode: str, library: str
    ) -> list[dict[str, Any]]:
        """Index folders and ask the questions in one process, for a process each would cost seconds each."""
        job = {
            "paths": [str(p) for p in paths],
            "conversations": conversations,
            "mode": mode,
            "library": library,
        }
        job["knows"] = ASKED["knows"]
        done = self.start([sys.executable, str(HERE / "asking.py")], json.dumps(job))
        answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if len(answers) != len(conversations):
            raise RuntimeError(
                f"{len(answers)} of {len(conversations)} questions were answered:\n{done.stderr[-3000:]}"
            )
        return answers

    def plain(self, text: str) -> list[str]:
        """Return lines without what differs from run to run or with inner changes: folder, seconds, ids."""
        text = text.replace(str(self.folder.resolve()) + "/", "").replace(str(self.folder) + "/", "")
        text = re.sub(r"\b\d+(\.\d+)? m?s\b", "T s", text)
        text = re.sub(r"\b[0-9a-f]{24}\b|\b[0-9a-f]{8}\b(?=  )|\b\d{8}-[0-9a-f]{6}\b", "ID", text)
        return [
            re.sub(r"\s{2,}", "  ", line.rstrip())
            for line in text.splitlines()
            if line.strip() not in ("", "ID")
        ]


def place(locator: dict[str, Any]) -> str:
    """Return where a locator points, without what depends on how items are cut."""
    told = [Path(locator.get("file", "")).name, locator.get("url", "")]
    told += [locator["kind"]] if locator.get("kind") not in (None, "page") else []
    told += [f"{k} {locator[k]:g}" for k in ("page", "line", "start", "end") if locator.get(k) is not None]
    return " ".join(t for t in told if t)


def brief(answer: dict[str, Any]) -> dict[str, Any]:
    """Return what of an answer is to stay as it is: of quotes how they begin, and how much is shown."""
    if "error" in answer:
        return {"error": answer["error"]}
    cites = [f"[{c['n']}] {place(c['locator'])}" for c in answer["citations"]]
    kept = {"kind": answer["kind"], "cites": cites}
    if answer["kind"] == "quotes":
        said = answer["sentences"]
        begun = [" ".join(s["text"].split())[:60] for s in said]
        return {**kept, "begins": begun, "characters": sum(len(s["text"]) for s in said)}
    return {**kept, "text": answer["text"], "confidence": round(answer["confidence"], 2)}


def holds(answer: dict[str, Any], accepted: list[str]) -> bool:
    """Tell whether an accepted answer stands in what is shown."""
    shown = " ".join(" ".join(s["text"] for s in answer.get("sentences", ())).casefold().split())
    return any(" ".join(words.casefold().split()) in shown for words in accepted)


def demo(desk: Desk) -> Entries:
    """The commands of `make demo`, as typed; not `--trace`, whose steps beside each other end in any order."""
    desk.copy(ROOT / "examples" / "library", "examples/library")
    found: Entries = {}
    for step in ASKED["demo"]:
        done = desk.ragweave(*step["command"], typed=step.get("typed", ""))
        lines = desk.plain(done.stdout) + [f"stderr: {x}" for x in desk.plain(done.stderr)]
        found[" ".join(step["command"])] = {"exit": done.returncode, "shown": lines}
    return found


def example_folders(desk: Desk) -> list[Path]:
    """Lay out the example library, a table and a hostile note."""
    return [desk.copy(ROOT / "examples" / "library", "library"), desk.write("extra", ASKED["extra"].items())]


def examples(desk: Desk) -> Entries:
    """Questions of every kind over the example library, answered by quotes."""
    answers = desk.ask(example_folders(desk), ASKED["examples"], "extractive", "default")
    found: Entries = {" > ".join(q): brief(a) for q, a in zip(ASKED["examples"], answers, strict=True)}
    for query in ASKED["search"]:
        done = desk.ragweave("search", query, "--json", "--top-k", "6")
        rows = (
            json.loads(done.stdout)
            if done.stdout.startswith("[")
            else [{"corpus": done.stderr, "locator": {}}]
        )
        found[f"search {query}"] = [
            f"{r['corpus']} {place(r['locator'])} {r.get('relevance', 0):.2f}" for r in rows
        ]
    one = desk.ragweave("ask", ASKED["examples"][0][0], "--json", "--mode", "extractive")
    found["ask --json"] = {"exit": one.returncode, **brief(json.loads(one.stdout))}
    return found


def house(desk: Desk) -> Entries:
    """Every fourth question of a development set about one household's files, and in how many the answer is shown."""
    there = data("house_dev")
    lines = (there / "questions.jsonl").read_text(encoding="utf-8").splitlines()[::4]
    rows = [json.loads(line) for line in lines]
    asked = [[*row["previous"], row["question"]] for row in rows]
    answers = desk.ask([desk.copy(there / "library", "house")], asked, "extractive", "house")
    found: Entries = {}
    home = str((desk.folder / "house").resolve()) + "/"
    answerable = 0
    for row, answer in zip(rows, answers, strict=True):
        files = [c["locator"].get("file", "").removeprefix(home) for c in answer.get("citations", ())]
        kept = {k: v for k, v in brief(answer).items() if k in ("kind", "characters", "error")}
        if row["answerable"]:
            answerable += 1
            kept["shown"] = holds(answer, row["answers"])
        found[f"{row['id']} {row['question']}"] = {**kept, "files": list(dict.fromkeys(files))}
    shown = sum(entry.get("shown", False) for entry in found.values())
    found["shown of all"] = f"an accepted answer is shown for {shown} of {answerable} answerable questions"
    return found


def scripted(desk: Desk) -> Entries:
    """Questions that a chat model without a mind answers, and how often it was called for the last turn."""
    answers = desk.ask(example_folders(desk), ASKED["scripted"], "llm", "default")
    pairs = zip(ASKED["scripted"], answers, strict=True)
    found: Entries = {" > ".join(q): {**brief(a), "calls": a["calls"]} for q, a in pairs}
    found["calls of all"] = sum(a["calls"] for a in answers)
    return found


SECTIONS: dict[str, Callable[[Desk], Entries]] = {f.__name__: f for f in (demo, examples, house, scripted)}


def compare(name: str, old: Entries, new: Entries) -> bool:
    """Print how many entries are the same and how the others differ."""
    differ = [k for k in {**old, **new} if old.get(k) != new.get(k)]
    for key in differ:
        sides = [
            json.dumps(x[key], ensure_ascii=False, indent=1).splitlines() if key in x else []
            for x in (old, new)
        ]
        print(f"--- {name}: {key}")
        print(
            "\n".join(
                x for x in difflib.unified_diff(*sides, lineterm="", n=1) if x[:2] not in ("--", "++", "@@")
            )
        )
    print(f"{name}: same {len({**old, **new}) - len(differ)} of {len({**old, **new})}")
    return not differ


def main() -> int:
    """Take every section, or one; record it, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="write the recordings anew")
    parser.add_argument("--only", choices=SECTIONS, action="append", help="this section; may be repeated")
    given = parser.parse_args()
    fine = True
    for name in given.only or SECTIONS:
        began, file = time.monotonic(), HERE / f"{name}.json"
        old: Entries = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        try:
            with tempfile.TemporaryDirectory(prefix="golden-") as folder:
                new = SECTIONS[name](Desk(Path(folder)))
        except Skipped as why:
            print(f"{name}: skipped: {why}")
            continue
        except Exception as error:  # the other sections still tell something
            print(f"{name}: FAILED: {type(error).__name__}: {error}")
            fine = False
            continue
        if given.record:
            file.write_text(json.dumps(new, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
            print(f"{name}: recorded {len(new)}")
        else:
            fine &= compare(name, old, new)
        for key in ("shown of all", "calls of all"):
            if key in new:
                print(f"  {name}, {key}: {new[key]} (recorded: {old.get(key, 'nothing')})")
        print(f"  {time.monotonic() - began:.0f} s", flush=True)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
