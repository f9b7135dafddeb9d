import numpy as np
import pytest

from ragweave.evals.bootstrap import interval


def test_the_interval_is_about_two_standard_errors_wide():
    values = np.random.default_rng(1).normal(size=400)
    found = interval(values.tolist())
    error = values.std() / 20
    assert found.mean == pytest.approx(values.mean())
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.1)
