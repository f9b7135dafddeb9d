import numpy as np
import pytest

from ragweave.evals.bootstrap import interval, paired


def test_the_same_seed_gives_the_same_interval():
    values = np.random.default_rng(1).normal(size=50).tolist()
    assert interval(values, seed=3) == interval(values, seed=3)
    assert interval(values, seed=3) != interval(values, seed=4)


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


def test_no_difference_has_no_significance():
    found = paired([1.0, 0.0, 1.0], [1.0, 0.0, 1.0])
    assert (found.mean, found.low, found.high, found.p) == (0, 0, 0, 1)


def test_large_sets_are_resampled_in_slices():
    values = [0.0, 1.0] * 5000
    assert interval(values, samples=500).mean == 0.5


@pytest.mark.parametrize("values", [[], [float("nan")], [1.0, float("inf")]])
def test_values_without_a_mean_are_refused(values):
    with pytest.raises(ValueError, match="finite"):
        interval(values)


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="same questions"):
        paired([1.0], [1.0, 2.0])
