"""Paired bootstrap intervals: is one system better than another on the same questions?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its percentile interval.

    `p` is the share of resamples whose mean has the other sign or is 0, doubled (two-sided), at most 1.
    """

    mean: float
    low: float
    high: float
    p: float


def interval(values: Sequence[float], samples: int = 4000, seed: int = 0) -> Interval:
    """Return the 95 % percentile bootstrap interval of a mean (Efron 1979); the same for the same seed.

    Raises:
        ValueError: there are no values, or they are not finite.
    """
    x = np.asarray(values, dtype=np.float64)
    if x.size == 0 or not np.isfinite(x).all():
        raise ValueError("a bootstrap needs at least one value, and finite ones")
    rng = np.random.default_rng(seed)
    means = np.empty(samples)
    # In slices, so that a large set does not ask for samples x rows numbers at once.
    step = max(1, 2_000_000 // x.size)
    for start in range(0, samples, step):
        size = min(step, samples - start)
        means[start : start + size] = x[rng.integers(0, x.size, (size, x.size))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    mean = float(x.mean())
    other = float((means <= 0).mean() if mean > 0 else (means >= 0).mean())
    return Interval(mean, float(low), float(high), min(1.0, 2 * other))


def paired(a: Sequence[float], b: Sequence[float]) -> Interval:
    """Return the interval of mean(b) - mean(a) over the same questions, resampling questions, not systems.

    Raises:
        ValueError: lengths differ.
    """
    if len(a) != len(b):
        raise ValueError(f"{len(a)} values against {len(b)}: a paired comparison needs the same questions")
    return interval(np.subtract(b, a).tolist())
