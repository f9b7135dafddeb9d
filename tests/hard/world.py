"""A world for the simulator of faults: a home, two folders of files, and what must be so after each command."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from ragweave.tests.hard.commands import Broken, Commands, Step
from ragweave.tests.hard.held import content, on_disk
from ragweave.tests.hard.uploaded import ACCEPTED

FILES = ("write", "edit", "rename", "move", "copy", "remove", "clock")
ENDINGS = (".md", ".md", ".md", ".txt", ".txt", ".vtt", ".png", ".pdf")
ANCHOR = "anchor.md"
UPLOADS = "e"
"""The library that files are uploaded to."""
_ANCHOR_TEXT = b"# Beacon tok0000000000\n\nThe beacon of tok0000000000 was lit in 1700.\n"


@dataclass
class World(Commands):
    """A home, the folders of two libraries, and what must be so."""

    seen: set[str] = field(default_factory=set)
    synced: dict[str, dict[str, str]] = field(default_factory=dict)
    turns: dict[str, int] = field(default_factory=dict)
    accepted: dict[str, str] = field(default_factory=dict)
    """Digests of the uploads that were accepted and not removed, by path."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for folder in "a", "b", "sent":
            (self.root / folder).mkdir()
        for (
            name
        ) in "ab":  # a file that stays as it is: a run that can read nothing at all ends with another code
            self._put(self.root / name / ANCHOR, _ANCHOR_TEXT)

    def run(self, step: Step) -> None:
        """Do a step, and compare everything with what must be so."""
        rng = random.Random(step["seed"])
        self.counts[step["op"]] += 1
        if step["op"] in FILES:
            self._change(step["op"], rng)
        else:
            getattr(self, f"_{step['op']}")(step, rng)
            self._check()

    def _change(self, op: str, rng: random.Random) -> None:
        folder = self.root / rng.choice("aab")
        files = [Path(p) for p in on_disk(folder) if Path(p).name != ANCHOR]
        if op == "clock":
            self.clock = rng.choice([0.0, -86_400.0, -5.0, 5.0, 3_600.0, 100_000.0])
        elif op == "write" or not files:
            path = (
                folder
                / rng.choice(["", "", "deep/"])
                / f"{rng.choice('pqrstuvw')}{rng.randint(0, 9)}{rng.choice(ENDINGS)}"
            )
            self._put(path, content(rng, path.suffix, f"tok{rng.getrandbits(40):010x}"))
        else:
            path, other = rng.choice(files), folder / f"{rng.choice('pqrstuvw')}{rng.randint(10, 99)}"
            if op == "edit":
                before, data = path.stat(), path.read_bytes()
                new = content(rng, path.suffix, f"tok{rng.getrandbits(40):010x}")
                self._put(
                    path,
                    (new * 2)[: len(data)] if rng.random() < 0.3 and path.suffix in (".md", ".txt") else new,
                )
                if rng.random() < 0.5:  # as a program that keeps the time of the last change does
                    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
            elif op == "remove":
                path.unlink()
            elif op == "copy":
                shutil.copy2(path, other.with_suffix(path.suffix))
            else:
                target = other.with_suffix(path.suffix) if op == "rename" else folder / "deep" / path.name
                target.parent.mkdir(exist_ok=True)
                path.rename(target)

    def _put(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        self.seen.add(hashlib.sha256(data).hexdigest())

    # Steps. Each says what has to be so once its command was acknowledged.

    def _index(self, step: Step, rng: random.Random) -> None:
        name = rng.choice("aab")
        before = on_disk(self.root / name)
        real = rng.random() < 0.15
        if self._command(
            step,
            ["index", str(self.root / name), "-l", name, "-q"],
            name,
            readers=real,
            many=rng.random() < 0.1,
        ):
            self.synced[name] = before
            if (got := self.state["libraries"][name])["files"] != before:
                raise Broken(
                    f"catalog and files of {name} differ:"
                    f" {sorted(dict(got['files'].items() ^ before.items()))}"
                )
            if got["media"]:
                raise Broken(f"media of nothing in {name}: {got['media']}")
            stems = {got["named"][p]: Path(p).stem for p in got["named"]}
            bad = [t for s, t in got["titles"].items() if not t.startswith("Beacon") and t != stems[s]]
            if bad:
                raise Broken(f"titles of files that have another name now: {bad}")

    def _search(self, step: Step, rng: random.Random) -> None:
        if not (name := self._library(rng)):
            return
        found = self._token(name, rng)
        said = self._command(step, ["search", found or "beacon", "-l", name, "--json"], name, codes=(0, 3))
        if said is not None and found and found not in said:
            raise Broken(f"{found} is in {name} and is not found")

    def _ask(self, step: Step, rng: random.Random) -> None:
        if name := self._library(rng):
            question = f"When was the beacon of {self._token(name, rng) or 'Rome'} lit?"
            self._command(step, ["ask", question, "-l", name], name, codes=(0, 3))

    def _chat(self, step: Step, rng: random.Random) -> None:
        if not (name := self._library(rng)):
            return
        thread = rng.choice([*self.turns, ""])
        going = ["--thread", thread] if thread else []
        said = self._command(
            step, ["chat", "-l", name, *going], name, text="When was the beacon lit?\nAnd who lit it?\n"
        )
        if said is not None and "Continue with: ragweave chat --thread " in said and "error:" not in said:
            kept = said.rpartition("--thread ")[2].split()[0]
            self.turns[kept] = self.turns.get(kept, 0) + 2

    def _reembed(self, step: Step, rng: random.Random) -> None:
        if name := self._library(rng):
            other = "tiny2" if self.state["libraries"][name]["encoder"] == "tiny1" else "tiny1"
            if self._command(step, ["index", "--embed", other, "-l", name], name) is not None:
                if self.state["libraries"][name]["encoder"] != other:
                    raise Broken("the encoder is the old one")

    def _upload(self, step: Step, rng: random.Random) -> None:
        for old in (self.root / "sent").iterdir():
            old.unlink()
        sent = [
            self.root / "sent" / f"{rng.choice('pq')}{rng.randint(1, 3)}{rng.choice(ENDINGS)}"
            for _ in range(rng.randint(0, 3))
        ]
        for path in sent:
            path.write_bytes(content(rng, path.suffix, f"tok{rng.getrandbits(40):010x}"))
        said = self._command(step, ["upload", UPLOADS, *sorted({str(p) for p in sent})], UPLOADS)
        if not (held := self.state["libraries"].get(UPLOADS)):
            if ACCEPTED in self.said:
                raise Broken("an upload was accepted for a library that is not there")
            return
        folder = self.home / "uploads" / held["id"]
        for line in self.said.splitlines():
            if line.startswith(ACCEPTED):
                name, kept = line.removeprefix(ACCEPTED).split("\t")
                self.accepted[str(folder / kept)] = hashlib.sha256(
                    (self.root / "sent" / name).read_bytes()
                ).hexdigest()
        if said is not None and step.get("fault") in (None, "stop"):
            if lost := [p for p, s in self.accepted.items() if held["files"].get(p) not in (s, "")]:
                raise Broken(f"accepted, and neither indexed nor recorded as failed: {lost}")
            if left := list(folder.glob(".*.part")):
                raise Broken(f"halves of uploads are left: {left}")

    def _delete(self, step: Step, rng: random.Random) -> None:
        if name := self._library(rng):
            if self._command(step, ["library", "delete", name, "--yes"], name) is not None:
                if name in self.state["libraries"] or any(n.endswith(".gone") for n in self.state["left"]):
                    raise Broken("a library that was deleted is there")
            if name not in self.state["libraries"]:
                self.synced.pop(name, None)
            if name == UPLOADS:  # where it was stopped, they may be on their way out
                self.accepted = {p: s for p, s in self.accepted.items() if Path(p).exists()}
                if name not in self.state["libraries"] and (
                    left := list((self.home / "uploads").glob("*/*"))
                ):
                    raise Broken(f"uploads of a library that was deleted: {left}")

    def _repair(self, step: Step, rng: random.Random) -> None:
        if name := self._library(rng):
            self._command(step, ["doctor", "--repair", "-l", name], name)

    def _forget(self, step: Step, rng: random.Random) -> None:
        name = self._library(rng)
        if name and (named := self.state["libraries"][name]["named"]):
            source = rng.choice(sorted(named.values()))
            if name == UPLOADS:
                sha = next(
                    s for p, s in self.state["libraries"][name]["files"].items() if named.get(p) == source
                )
                self.accepted = {
                    p: s for p, s in self.accepted.items() if s != sha and named.get(p) != source
                }
            done = self._command(step, ["sources", "remove", source, "-l", name, "--yes"], name)
            if done is not None and source in self.state["libraries"][name]["named"].values():
                raise Broken("a source that was removed is there")
            if name in self.synced:
                held = self.state["libraries"][name]["files"]
                self.synced[name] = {p: s for p, s in self.synced[name].items() if p in held}

    # Choosing, looking, comparing.

    def _library(self, rng: random.Random) -> str:
        return rng.choice(sorted(self.state["libraries"]) or [""])

    def _read(self, name: str) -> list[str]:
        held = self.state["libraries"][name]
        return sorted(held["files"][p] for p in held["read"])

    def _token(self, name: str, rng: random.Random) -> str:
        """Return a token of a file that the library surely holds as it is now."""
        now = on_disk(self.root / name) if name in "ab" else {}
        sure = [
            p
            for p in self.state["libraries"][name]["read"]
            if now.get(p) == self.state["libraries"][name]["files"][p]
        ]
        text = Path(rng.choice(sure)).read_bytes().decode(errors="replace") if sure else ""
        return "tok" + text.partition("tok")[2][:10] if "tok" in text else ""

    def _check(self) -> None:
        state = self.state
        if state.get("wrong"):
            raise Broken("; ".join(state["wrong"]))
        for name, held in state["libraries"].items():
            if name in "ab" and (strange := {s for s in held["files"].values() if s} - self.seen):
                raise Broken(f"{name} holds what no file ever held: {strange}")
        for name, synced in self.synced.items():
            held = state["libraries"].get(name)
            if held is None:
                raise Broken(f"the library {name} is lost")
            now = on_disk(self.root / name)
            lost = [p for p, s in synced.items() if now.get(p) == s and held["files"].get(p) != s]
            if lost:
                raise Broken(f"{name} has lost {lost}")
        for path, sha in self.accepted.items():
            if not Path(path).exists() or hashlib.sha256(Path(path).read_bytes()).hexdigest() != sha:
                raise Broken(f"an upload that was accepted is lost: {path}")
        lost = {t for t, n in self.turns.items() if state["turns"].get(t, 0) < n}
        if lost:
            raise Broken(f"turns are lost in {lost}")
        left = sorted(p.name for p in self.tmp.iterdir() if not p.name.startswith("."))
        if len(left) > 1:  # the last run may have been killed
            raise Broken(f"left in the temporary folder: {left}")
