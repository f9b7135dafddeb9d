import lightgbm
import numpy as np
import pytest

from ragweave.evals.trees import from_dump


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
