import io

import lightgbm
import numpy as np
import pytest

from ragweave.evals.trees import arrays, from_dump
from ragweave.models.relevance import Trees


def booster(seed: int, columns: int = 6, rounds: int = 40) -> lightgbm.Booster:
    rng = np.random.RandomState(seed)
    x = rng.normal(size=(400, columns)).round(1)
    y = (x[:, 0] * x[:, 1] + x[:, 2] + rng.normal(scale=0.3, size=400) > 0).astype(int)
    settings = {"objective": "binary", "num_leaves": 11, "verbose": -1, "num_threads": 1, "seed": seed}
    return lightgbm.train(settings, lightgbm.Dataset(x, y), rounds)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_predicts_what_lightgbm_predicts(seed: int) -> None:
    b = booster(seed)
    # One decimal puts many values exactly on a threshold.
    x = np.random.RandomState(seed + 10).normal(size=(300, 6)).round(1)
    np.testing.assert_allclose(from_dump(b.dump_model()).predict(x), b.predict(x, raw_score=True), atol=1e-12)


def test_survives_a_file_without_pickle() -> None:
    trees, file = from_dump(booster(4).dump_model()), io.BytesIO()
    np.savez(file, **arrays(trees, "a"), **arrays(from_dump(booster(5).dump_model()), "b"))
    file.seek(0)
    with np.load(file, allow_pickle=False) as stored:
        again = Trees.load(stored, "a")
    x = np.random.RandomState(0).normal(size=(20, 6))
    np.testing.assert_array_equal(again.predict(x), trees.predict(x))
