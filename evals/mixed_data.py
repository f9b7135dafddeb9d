"""A library of every kind, made of public data by text alone, and questions whose corpus is known.

Paragraphs are those of XQuAD, documents those of HotpotQA; pictures are indexed by title and caption, and
asked for by what can be seen on them; recordings are indexed by what is said, whole as videos and in
stretches of about a minute as clips. No question was made from the text that is indexed for its answer: those
of `mixed_queries.jsonl` were written for this purpose, from the descriptions for the blind (pictures) and by
paraphrase (clips, videos), before any of them was routed. The constants of routing and merging may be chosen
on them; those of `mixed_fresh.jsonl`, over other pictures and moments, only report.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from ragweave.evals.data import read_jsonl

CLIP_WORDS = 150
"""Words of a clip: about a minute of speech."""
WORDS_PER_SECOND = 2.5
"""Of speech; the data name times for few turns only, so that all are estimated alike."""
PER_SET = 120
"""Questions taken of XQuAD."""
FRESH = 40
"""Questions of a kind in the fresh set."""

Row = dict[str, Any]


@dataclass(frozen=True)
class MixedQuestion:
    """One question over the mixed library.

    `gold` are ids of the rows that answer it.
    """

    id: str
    text: str
    corpus: str
    gold: tuple[str, ...]


def library_rows(data: Path) -> list[Row]:
    """Return the rows of the item list (docs/formats.md), ids included."""
    rows: list[Row] = []
    for p in read_jsonl(data / "squad_xquad_en/passages.jsonl", ["id", "title", "text"]):
        rows.append({"kind": "paragraph", "id": f"p {p['id']}", "title": p["title"], "text": p["text"]})
    for p in read_jsonl(data / "multihop_hotpotqa/corpus.jsonl", ["id", "title", "text"]):
        rows.append({"kind": "document", "id": f"d {p['id']}", "title": p["title"], "text": p["text"]})
    for c in read_jsonl(data / "images_astronomy/captions.jsonl", ["id", "title", "caption", "file"]):
        rows.append(
            {
                "kind": "image",
                "id": c["id"],
                "title": c["title"] or c["id"],
                "caption": c["caption"],
                "file": c["file"],
            }
        )
    rows = _with_words(rows)
    for name, turns in _recordings(data).items():
        rows += _recording(name, turns)
    return rows


def _with_words(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that have a text or a caption."""
    out = []
    for row in rows:
        if row.get("text") or row.get("caption"):
            out.append(row)
    return out


def _recordings(data: Path) -> dict[str, list[tuple[str, str]]]:
    """Return the speech of each recording in order: (id of the turn or slide, words)."""
    out: dict[str, list[tuple[str, str]]] = {}
    for s in read_jsonl(data / "transcripts_practicalai/segments.jsonl", ["episode", "text"]):
        turns = out.setdefault(str(s["episode"]), [])
        turns.append((str(len(turns)), str(s["text"])))
    for s in read_jsonl(data / "slide_lectures_swc/slides.jsonl", ["lecture", "n", "narration"]):
        out.setdefault(str(s["lecture"]), []).append((str(s["n"]), str(s["narration"] or "")))
    return out


def _recording(name: str, turns: Sequence[tuple[str, str]]) -> Iterator[Row]:
    title = name.replace("_", " ").replace("-", " ")
    common = {"title": title, "file": f"recordings/{name}.mp4"}
    second = 0.0
    for group in _stretches(turns):
        said = _speech(group)
        ends = second + len(said.split()) / WORDS_PER_SECOND
        times = {"start": round(second, 1), "end": round(max(ends, second + 0.1), 1)}
        yield {"kind": "clip", "id": clip_id(name, group), **common, "transcript": said, **times}
        second = ends
    whole = _speech(turns)
    yield {
        "kind": "video",
        "id": name,
        **common,
        "transcript": whole,
        "start": 0.0,
        "end": round(second + 0.1, 1),
    }


def _speech(turns: Sequence[tuple[str, str]]) -> str:
    texts = [text for _, text in turns]
    return " ".join(texts)


def _stretches(turns: Sequence[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Group turns into stretches of at least CLIP_WORDS; a short rest joins the last one."""
    groups: list[list[tuple[str, str]]] = [[]]
    held = 0
    for turn in turns:
        if held >= CLIP_WORDS:
            groups.append([])
            held = 0
        groups[-1].append(turn)
        held += len(turn[1].split())
    if len(groups) > 1 and held < CLIP_WORDS / 3:
        groups[-2:] = [groups[-2] + groups[-1]]
    return groups


def clip_id(name: str, group: Sequence[tuple[str, str]]) -> str:
    """Return the id of a clip: the recording, its first and its last turn."""
    return f"{name} {group[0][0]}-{group[-1][0]}"


def questions(data: Path) -> list[MixedQuestion]:
    """Return the questions: every n-th of XQuAD, HotpotQA, and the first over pictures, clips and videos."""
    out = _paragraphs(_first(_xquad(data)))
    out += _documents(read_jsonl(data / "multihop_hotpotqa/queries.jsonl", ["id", "question", "gold"]))
    return out + _written(data, "mixed_queries.jsonl")


def fresh(data: Path) -> list[MixedQuestion]:
    """Return FRESH questions of each kind that are not in `questions`; those over documents need 3 or 4.

    All of HotpotQA's are asked there, so that these are the authored ones over the same passages.
    """
    rows = _xquad(data)
    taken = [q["id"] for q in _first(rows)]
    others = []
    for row in rows:
        if row["id"] not in taken:
            others.append(row)
    out = _paragraphs(_drawn(others))
    out += _documents(_drawn(read_jsonl(data / "multihop_own/queries.jsonl", ["id", "question", "gold"])))
    return out + _written(data, "mixed_fresh.jsonl")


def _xquad(data: Path) -> list[Row]:
    return read_jsonl(data / "squad_xquad_en/queries.jsonl", ["id", "question", "gold"])


def _first(xquad: Sequence[Row]) -> Sequence[Row]:
    return xquad[:: max(1, len(xquad) // PER_SET)][:PER_SET]


def _drawn(rows: Sequence[Row]) -> list[Row]:
    """Draw FRESH rows, the same ones every time."""
    return sorted(rows, key=lambda q: hashlib.sha256(str(q["id"]).encode()).hexdigest())[:FRESH]


def _paragraphs(rows: Sequence[Row]) -> list[MixedQuestion]:
    return _questions(rows, "xquad", "paragraph", "p")


def _documents(rows: Sequence[Row]) -> list[MixedQuestion]:
    return _questions(rows, "hotpot", "document", "d")


def _questions(rows: Sequence[Row], name: str, corpus: str, prefix: str) -> list[MixedQuestion]:
    """Return the questions of a data set; `prefix` is that of the ids of its passages in the library."""
    out = []
    for row in rows:
        gold = [f"{prefix} {passage}" for passage in row["gold"]]
        out.append(MixedQuestion(f"{name} {row['id']}", row["question"], corpus, tuple(gold)))
    return out


def _written(data: Path, file: str) -> list[MixedQuestion]:
    """Read questions written for this library; gold of a clip is `recording:turn` in the file."""
    clips = _clips(data)
    out = []
    for line in files("ragweave.evals").joinpath(file).read_text(encoding="utf-8").splitlines():
        q = json.loads(line)
        gold = q["gold"]
        if q["kind"] == "clip":
            gold = [clips[_at(place)] for place in gold]
        out.append(MixedQuestion(q["id"], q["question"], q["kind"], tuple(gold)))
    return out


def _clips(data: Path) -> dict[tuple[str, str], str]:
    """Return the id of the clip of each (recording, turn)."""
    clips = {}
    for name, turns in _recordings(data).items():
        for group in _stretches(turns):
            for turn, _ in group:
                clips[name, turn] = clip_id(name, group)
    return clips


def _at(gold: str) -> tuple[str, str]:
    name, _, turn = gold.rpartition(":")
    return name, turn
