import numpy as np
import pytest

from ragweave.evals.bootstrap import interval, paired


def test_the_interval_is_about_two_standard_errors_wide():
    values = np.random.default_rng(1).normal(size=400)
    found = interval(values.tolist())
    error = values.std() / 20
    assert found.mean == pytest.approx(values.mean())
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.1)


def test_pairing_sees_a_small_steady_gain_that_the_means_hide():
    base = np.random.default_rng(2).normal(scale=10, size=200)
    found = paired(base.tolist(), (base + 0.1).tolist())
    assert found.low == pytest.approx(0.1)
    assert found.p == 0


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="same questions"):
        paired([1.0], [1.0, 2.0])
