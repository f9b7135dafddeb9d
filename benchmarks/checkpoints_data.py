"""What the trained evaluator of `benchmarks/checkpoints.py` learns from: sentences of XQuAD.

    python benchmarks/checkpoints_data.py FILE [QUESTIONS]      RAGWEAVE_DATA names the folder of the public sets

Rows are short, so that processors can train on them: sentences, alone and with the next one. For each question the best
two by BM25 that hold the answer are relevant. Irrelevant are the best that does not, and one drawn from all.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ragweave.evals.data import read_jsonl
from ragweave.evals.evaluator_data import bm25
from ragweave.models.relevance import Passage

SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(])")
QUESTIONS = 1190
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


def rows(data: Path, count: int) -> Iterator[dict[str, Any]]:
    """Yield balanced rows of a training file, of `count` questions at equal distances."""
    made = sentences(read_jsonl(data / "squad_xquad_en" / "passages.jsonl"))
    asked = read_jsonl(data / "squad_xquad_en" / "queries.jsonl")
    search, draw = bm25(made), np.random.default_rng(SEED)
    for n in np.linspace(0, len(asked) - 1, count).astype(int).tolist():
        question, answers = asked[n]["question"], asked[n]["answers"]
        best = [made[i] for i in np.argsort(-search(question), kind="stable")[:LOOKED_AT]]
        right = [p for p in best if any(a in p.text for a in answers)][:2]
        drawn = [made[i] for i in draw.integers(len(made), size=LOOKED_AT)]
        wrong = [p for found in (best, drawn) for p in [p for p in found if not any(a in p.text for a in answers)][:1]]
        for label, chosen in ((1, right), (0, wrong[: len(right)])):
            for p in chosen:
                yield {"qid": str(n), "question": question, "title": p.title, "passage": p.text, "label": label}


def main() -> None:
    """Write the file that is named."""
    count = int(sys.argv[2]) if len(sys.argv) > 2 else QUESTIONS
    made = [json.dumps(row, ensure_ascii=False) for row in rows(Path(os.environ["RAGWEAVE_DATA"]), count)]
    Path(sys.argv[1]).write_text("\n".join(made) + "\n", encoding="utf-8")
    print(f"{len(made)} rows")


if __name__ == "__main__":
    main()
