import json
from pathlib import Path

import numpy as np
import pytest

from ragweave.evals.evaluator import none_relevant
from ragweave.evals.evaluator_data import Nearness, bm25, hotpot, idf_of, looked
from ragweave.evals.train_evaluator import train
from ragweave.models.relevance import HEAD, Passage, Scores, head


def test_none_is_relevant_reads_the_highest_floor() -> None:
    full = [Scores(np.zeros(2), np.array([0.9, -1.0])), Scores(np.zeros(2), np.array([-1.0, 0.8]))]
    empty = [Scores(np.zeros(2), np.array([-0.95, -1.0])), Scores(np.zeros(2), np.array([-0.5, -1.0]))]
    found = none_relevant(full, empty)
    assert found["auc"] == 1.0
    assert found["with_gold"] == {"correct": 1.0, "incorrect": 0.0}
    assert found["without_gold"] == {"correct": 0.0, "incorrect": 0.5}


def test_bm25_prefers_the_passage_with_the_rare_word() -> None:
    found = bm25([Passage("", "the cat sat"), Passage("", "the ferry left"), Passage("", "the dog sat")])(
        "the ferry"
    )
    assert found.argmax() == 1


@pytest.mark.data
def test_training_again_makes_a_head_that_judges_as_the_shipped_one_does(
    data_dir: Path, tmp_path: Path
) -> None:
    again = train(data_dir, tmp_path / "again.json")
    assert (
        json.loads((tmp_path / "again.json").read_text())["trained_on"]
        == json.loads(HEAD.read_text())["trained_on"]
    )
    asked = hotpot(data_dir)[:20]
    passages = [p for a in asked for p in a.passages]
    idf, near = idf_of(passages), Nearness(passages)
    pairs = [(again.scores(s), head().scores(s)) for s in (looked(a, idf, near) for a in asked)]
    new, old = (np.concatenate([pair[i].floor for pair in pairs]) for i in (0, 1))
    assert np.corrcoef(new, old)[0, 1] > 0.99
