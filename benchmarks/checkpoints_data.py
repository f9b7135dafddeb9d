"""Write the training data of the checkpoints of `benchmarks/checkpoints.py`.

    python benchmarks/checkpoints_data.py evaluator FILE    sentences of XQuAD
    python benchmarks/checkpoints_data.py router FILE       four fifths of the public questions, and templates

RAGWEAVE_DATA names the folder of the public sets. Rows of the evaluator are short, so that a CPU can train on
them: sentences, alone and with the next one. For each question the best two by BM25 with the answer are
relevant. The best without the answer and a random one without it are irrelevant.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Iterator, Sequence
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
"""The router does not learn from one of so many groups of near-duplicates among the public questions."""
LOOKED_AT = 60
"""So many sentences, the best by BM25, are searched for right and wrong ones."""
SEED = 7


def sentences(passages: list[dict[str, Any]]) -> list[Passage]:
    """Return every sentence of every passage, alone and with the next one."""
    made: list[Passage] = []
    for passage in passages:
        cut = SENTENCE_END.split(passage["text"])
        pairs = [f"{first} {second}" for first, second in pairwise(cut)]
        for text in (*cut, *pairs):
            made.append(Passage(passage["title"], text))
    return made


def rows(data: Path) -> Iterator[dict[str, Any]]:
    """Yield balanced rows for an evaluator."""
    made = sentences(read_jsonl(data / "squad_xquad_en" / "passages.jsonl"))
    asked = read_jsonl(data / "squad_xquad_en" / "queries.jsonl")
    search, draw = bm25(made), np.random.default_rng(SEED)
    for n, q in enumerate(asked):
        question, answers = q["question"], q["answers"]
        best = [made[i] for i in np.argsort(-search(question), kind="stable")[:LOOKED_AT]]
        drawn = [made[i] for i in draw.integers(len(made), size=LOOKED_AT)]
        right = [passage for passage in best if _answers(passage, answers)][:2]
        wrong: list[Passage] = []
        for found in (best, drawn):
            wrong += [passage for passage in found if not _answers(passage, answers)][:1]
        for label, chosen in ((1, right), (0, wrong[: len(right)])):
            for passage in chosen:
                row = {"qid": str(n), "question": question, "title": passage.title}
                yield {**row, "passage": passage.text, "label": label}


def _answers(passage: Passage, answers: Sequence[str]) -> bool:
    return any(answer in passage.text for answer in answers)


def routed(data: Path) -> Iterator[dict[str, Any]]:
    """Yield rows for a router; of each pattern of the templates one is taken."""
    public = read_routed(data / "router" / "router_dev.jsonl", LABELS)
    near = groups([row.query for row in public])
    for row, group in zip(public, near, strict=True):
        if group % PARTS:
            yield {"query": row.query, "label": row.label, "source": row.source}
    of_patterns = {row.pattern: row for row in template_questions()}
    for made in of_patterns.values():
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
