"""What the checkpoints of `benchmarks/checkpoints.py` learn from; RAGWEAVE_DATA names the folder of the public sets.

    python benchmarks/checkpoints_data.py evaluator FILE      sentences of XQuAD
    python benchmarks/checkpoints_data.py router FILE         four fifths of the public questions, and the
    templates

Rows of the evaluator are short, so that processors can train on them: sentences, alone and with the next one.
For each question the best two by BM25 that hold the answer are relevant. Irrelevant are the best that does
not, and one drawn from all.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ragweave.corpora.types import LABELS
from ragweave.evals.data import groups, read_jsonl, read_routed
from ragweave.evals.evaluator_data import bm25
from ragweave.evals.templates import template_questions
from ragweave.models.relevance import Passage

SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(])")
PARTS = 5
"""One of so many groups of near-duplicates among the public questions is left out of what a router learns from."""
LOOKED_AT = 60
"""So many sentences, the best by BM25, are searched for right and wrong ones."""
SEED = 7


def sentences(passages: list[dict[str, Any]]) -> list[Passage]:
    """Return every sentence of every passage, alone and with the next one."""
    made = []
    for p in passages:
        cut = SENTENCE_END.split(p["text"])
        made += [Passage(p["title"], s) for s in [*cut, *(f"{a} {b}" for a, b in pairwise(cut))]]
    return made


def rows(data: Path) -> Iterator[dict[str, Any]]:
    """Yield balanced rows for an evaluator."""
    made = sentences(read_jsonl(data / "squad_xquad_en" / "passages.jsonl"))
    asked = read_jsonl(data / "squad_xquad_en" / "queries.jsonl")
    search, draw = bm25(made), np.random.default_rng(SEED)
    for n, q in enumerate(asked):
        question, answers = q["question"], q["answers"]
        best = [made[i] for i in np.argsort(-search(question), kind="stable")[:LOOKED_AT]]
        right = [p for p in best if any(a in p.text for a in answers)][:2]
        drawn = [made[i] for i in draw.integers(len(made), size=LOOKED_AT)]
        wrong = [
            p
            for found in (best, drawn)
            for p in [p for p in found if not any(a in p.text for a in answers)][:1]
        ]
        for label, chosen in ((1, right), (0, wrong[: len(right)])):
            for p in chosen:
                yield {
                    "qid": str(n),
                    "question": question,
                    "title": p.title,
                    "passage": p.text,
                    "label": label,
                }


def routed(data: Path) -> Iterator[dict[str, Any]]:
    """Yield rows for a router; of each pattern of the templates one is taken."""
    public = read_routed(data / "router" / "router_dev.jsonl", LABELS)
    near = groups([row.query for row in public])
    for row, group in zip(public, near, strict=True):
        if group % PARTS:
            yield {"query": row.query, "label": row.label, "source": row.source}
    for made in {row.pattern: row for row in template_questions()}.values():
        yield {"query": made.query, "label": made.label, "source": "template"}


def main() -> None:
    """Write the rows of a task to the file that is named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", choices=("evaluator", "router"))
    parser.add_argument("file", type=Path)
    given = parser.parse_args()
    found = {"evaluator": rows, "router": routed}[given.task](Path(os.environ["RAGWEAVE_DATA"]))
    made = [json.dumps(row, ensure_ascii=False) for row in found]
    given.file.write_text("\n".join(made) + "\n", encoding="utf-8")
    print(f"{len(made)} rows")


if __name__ == "__main__":
    main()
