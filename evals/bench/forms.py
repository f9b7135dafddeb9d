"""Question answering sets in the forms in which papers' readers have them on disk, read as rows of one form.

A set is a file of questions, or a folder with one and with what is searched beside it. A row of questions is
known by its fields, a corpus by its name; `docs/papers.md` lists both.
"""

from __future__ import annotations

import ast
import csv
import json
import re
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragweave.corpora.types import LABELS
from ragweave.evals.answers import Question, question_of
from ragweave.evals.bench.corpora import named_files, qrels_of, read_passages, recorded, texts
from ragweave.evals.bench.options import options_of
from ragweave.evals.data import listed, read_jsonl
from ragweave.evals.mixed_data import library_rows
from ragweave.evals.mixed_data import questions as mixed_questions
from ragweave.evals.question_files import choice, rows_of
from ragweave.models.errors import InputError

Row = dict[str, Any]
QUESTIONS = ("queries", "questions", "dataset", "qa", "test", "dev", "validation")
"""Names of a file of questions in a folder, the first that is there."""
CORPORA = ("corpus.jsonl", "passages.jsonl", "wiki18_100w.jsonl", "psgs_w100.tsv")
"""Names of a file of passages beside it."""
IDS = ("id", "_id", "index", "QuestionId", "question_id", "claim_id")
_DESCRIBED = re.compile(r'\(description (?:"((?:[^"\\]|\\.)*)"|([^()]+))\)')
_STATEMENTS = {"true": "true", "false": "false", "supports": "true", "refutes": "false"}
csv.field_size_limit(min(sys.maxsize, 10**9))


@dataclass(frozen=True)
class FormBundle:
    """A set: its questions, the label that each belongs to where the set says it, and what is searched.

    `rows` are rows of an item list without their kind, or with it; `files` are recordings and pictures to
    index.
    """

    name: str
    questions: Sequence[Question]
    labels: Mapping[str, str] = field(default_factory=dict)
    rows: Sequence[Row] = ()
    files: Sequence[Path] = ()


def read(name: str, path: Path, corpus: Path | None = None) -> FormBundle:
    """Read a set.

    Raises:
        InputError: nothing is there, or a row is of no known form; the message names it.
    """
    if not path.exists():
        raise InputError(f"{path} is not there", f"name the file or the folder of {name}")
    if path.is_dir() and (path / "squad_xquad_en").is_dir() and (path / "images_astronomy").is_dir():
        asked = mixed_questions(path)
        found = [Question(q.id, q.text, (), q.gold, kind=name) for q in asked]
        return FormBundle(name, found, {q.id: q.corpus for q in asked}, library_rows(path))
    file = path if path.is_file() else _question_file(path)
    passages: dict[str, Row] = {}
    questions: dict[str, Question] = {}
    labels: dict[str, str] = {}
    qrels = qrels_of(path) if path.is_dir() else {}
    raw = list(_raw(file))
    for n, given in enumerate(raw, 1):
        row = _question(given, passages, file, n)
        row["kind"] = str(row.get("kind") or "")
        if qrels:
            row["gold"] = qrels.get(row["id"], [])
        if not (qrels and not row["gold"]):
            questions.setdefault(row["id"], question_of(row))
        if row.get("label") in LABELS:
            labels[row["id"]] = str(row["label"])
    if corpus is None and path.is_dir():
        corpus = next((path / c for c in CORPORA if (path / c).is_file()), None)
    if corpus is not None:
        passages = {str(p["id"]): p for p in read_passages(corpus)}
    folder = file.parent
    files = named_files(raw, file) if labels else [] if passages else recorded(folder)
    if labels and not passages:
        passages = {str(p["id"]): p for p in texts(raw, file)}
    return FormBundle(name, list(questions.values()), labels, list(passages.values()), files)


def _question_file(folder: Path) -> Path:
    held = [p for p in sorted(folder.iterdir()) if p.suffix in (".jsonl", ".json", ".tsv", ".csv")]
    for stem in QUESTIONS:
        for p in held:
            if p.stem == stem:
                return p
    rest = [p for p in held if p.name not in CORPORA]
    if len(rest) != 1:
        raise InputError(
            f"{folder} holds no one file of questions", f"name it {QUESTIONS[0]}.jsonl, or give the file"
        )
    return rest[0]


def _raw(file: Path) -> Iterator[Any]:
    """Yield the rows of a file as they stand, those of nested forms taken apart."""
    if file.suffix in (".tsv", ".csv"):
        yield from _table(file)
        return
    if file.suffix != ".json":
        rows = read_jsonl(file)
        yield from rows_of(file) if {"qa", "question_id", "options"} & {*rows[0]} else rows
        return
    try:
        whole = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InputError(f"{file} cannot be read ({error})", "give a JSON file in UTF-8") from error
    if isinstance(whole, list):
        yield from whole
    elif "data" in whole:  # SQuAD
        for article in whole["data"]:
            for n, p in enumerate(article["paragraphs"]):
                place = {"id": f"{article['title']}#{n}", "title": article["title"], "text": p["context"]}
                for q in p["qas"]:
                    yield {**q, "squad": place}
    elif "Data" in whole:  # TriviaQA
        yield from whole["Data"]
    else:
        yield from rows_of(file)


def _table(file: Path) -> Iterator[Row]:
    """Yield the rows of a table; one without a heading has a question and a list of answers (DPR)."""
    delimiter = "\t" if file.suffix == ".tsv" else ","
    with file.open(encoding="utf-8-sig", newline="") as text:
        if "\t" in text.readline():
            delimiter = "\t"
        text.seek(0)
        rows = [r for r in csv.reader(text, delimiter=delimiter) if r]
    if {"question", "claim"} & {*rows[0]}:
        yield from (dict(zip(rows[0], r, strict=False)) for r in rows[1:])
    else:
        yield from ({"question": r[0], "answers": _list(r[1])} for r in rows if len(r) == 2)


def _list(value: object) -> list[str]:
    """Return a list of texts: as it is, or written as JSON or as Python writes one; anything else is one answer."""
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            value = json.loads(value)
        except ValueError:
            value = ast.literal_eval(str(value))
    if isinstance(value, Mapping):
        value = value.get("text", value.get("aliases", []))
    return [str(v) for v in value] if isinstance(value, list) else [str(value)]


def _question(row: Any, passages: dict[str, Row], file: Path, n: int) -> Row:
    """Read one row of any form; passages that it brings are added."""
    if not isinstance(row, dict):
        raise InputError(f"row {n} of {file.name} is no object", "see docs/papers.md for the forms")
    id = str(next((row[k] for k in IDS if row.get(k) not in (None, "")), n))
    text = row.get("question", row.get("Question", row.get("claim", row.get("query", row.get("utterance")))))
    if row.get("letter") or {"kind", "question"} == {*row} - {"id"}:
        return row
    stated = (
        row.get("choices") or row.get("options") or (text.get("choices") if isinstance(text, dict) else None)
    )
    if (
        stated is not None
        and (key := row.get("answerKey", row.get("answer", row.get("golden_answers")))) is not None
    ):
        return _chosen(id, text["stem"] if isinstance(text, dict) else str(text), stated, key, file, n)
    if not isinstance(text, str) and not (text := row.get("text")):
        raise InputError(f"row {n} of {file.name} has no question", "see docs/papers.md for the forms")
    out: Row = {"id": id, "question": text, "answers": _answers(row), "gold": _gold(row, passages)}
    out |= {k: row[k] for k in ("kind", "answerable") if k in row}
    if "gt_retrieval" in row:  # UniversalRAG, as released
        out["label"] = row["gt_retrieval"]
    if row.get("videos") == ["none"]:
        out |= {"answerable": False, "gold": []}
    if len(out["answers"]) == 1 and re.fullmatch(r"[A-J]", out["answers"][0]) and options_of(text)[1]:
        out |= {"letter": out["answers"][0], "answers": []}
    return out


def _chosen(id: str, stem: str, stated: Any, key: Any, file: Path, n: int) -> Row:
    """Read a multiple choice: ARC in both of its forms, FlashRAG with the number or the text of the right one."""
    if isinstance(stated, Mapping):
        stated = [
            {"label": mark, "text": text} for mark, text in zip(stated["label"], stated["text"], strict=True)
        ]
    options = [str(c["text"]) if isinstance(c, Mapping) else str(c) for c in stated]
    marks = [str(c["label"]) if isinstance(c, Mapping) else str(i) for i, c in enumerate(stated)]
    right = str(key[0] if isinstance(key, list) else key)
    letters = "ABCDEFGHIJ"
    at = next((list(where).index(right) for where in (marks, options, letters) if right in where), -1)
    given = {"id": id, "question": stem, "options": options, "answer": letters[at] if at >= 0 else ""}
    return choice(given, "id", "", file, n)


def _answers(row: Row) -> list[str]:
    if "Answer" in row:  # TriviaQA
        return [*dict.fromkeys([row["Answer"]["Value"], *row["Answer"].get("Aliases", [])])]
    if "targetValue" in row:  # WebQuestions
        return [(a or b).strip() for a, b in _DESCRIBED.findall(row["targetValue"])]
    for name in ("golden_answers", "answers", "possible_answers", "answer", "label"):
        if row.get(name) not in (None, ""):
            found = row[name]
            if (
                name == "answers" and isinstance(found, list) and found and isinstance(found[0], dict)
            ):  # SQuAD
                found = [a["text"] for a in found]
            told = [*dict.fromkeys(_list(found))]
            return (
                [_STATEMENTS.get(a.casefold(), a) for a in told]
                if "claim" in row or name == "label"
                else told
            )
    return []


def _gold(row: Row, passages: dict[str, Row]) -> list[str]:
    """Return the ids of the passages that answer a row, and keep those that it brings."""
    if "squad" in row:
        passages.setdefault(row["squad"]["id"], row["squad"])
        return [row["squad"]["id"]]
    if "context" in row and isinstance(row["context"], str):  # SQuAD, one question a row
        key = f"{row.get('title', '')}#{zlib.crc32(row['context'].encode())}"
        passages.setdefault(key, {"id": key, "title": row.get("title") or key, "text": row["context"]})
        return [key]
    if "supporting_facts" in row and "context" in row:  # HotpotQA, 2WikiMultihopQA
        for title, sentences in row["context"]:
            passages.setdefault(
                title, {"id": title, "title": title, "text": " ".join(s.strip() for s in sentences)}
            )
        return [*dict.fromkeys(title for title, _ in row["supporting_facts"])]
    if "positive_ctxs" in row or "ctxs" in row:  # DPR; Self-RAG and CRAG
        gold: list[str] = []
        kinds = ("positive_ctxs", "negative_ctxs", "hard_negative_ctxs", "ctxs")
        for kind, c in [(k, c) for k in kinds for c in row.get(k) or ()]:
            key = str(c.get("passage_id") or c.get("id") or f"{c['title']} {c['text'][:80]}")
            passages.setdefault(key, {"id": key, "title": c["title"] or key, "text": c["text"]})
            if kind == "positive_ctxs" or (kind == "ctxs" and c["title"] == row.get("s_wiki_title")):
                gold.append(key)
        return gold
    if "gt_retrieval" in row:
        paths = [p for k in ("gt_texts", "gt_images", "gt_videos") for p in row.get(k) or ()]
        return [*dict.fromkeys(Path(p).name for p in paths)]
    named = next(
        (row[k] for k in ("gold", "gold_files", "videos") if isinstance(row.get(k), list | str)), None
    )
    return [*listed(named)]


def collections(bundle: FormBundle, path: Path) -> list[FormBundle]:
    """Return a set a collection where each has its own recordings (LongerVideos): `<id>-<name>`, or its `videos`."""
    root = path if path.is_dir() else path.parent
    out = []
    for key in dict.fromkeys(q.id.rpartition("-")[0] for q in bundle.questions):
        folder = next(iter(sorted(root.glob(f"{key}-*"))), None)
        if not key or folder is None:
            return [bundle]
        own = [q for q in bundle.questions if q.id.rpartition("-")[0] == key]
        out.append(FormBundle(bundle.name, own, files=recorded(folder)))
    return out
