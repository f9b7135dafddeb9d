"""Fit the gate between the two machines of the router head (`ragweave.evals.train_router`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ragweave.models.router import Array


def likeliest_gate(features: Array, either: Array, weight: Array) -> NDArray[np.float64]:
    """Return the gate under which the gold labels are likeliest.

    Args:
        features: what the gate reads, (questions, features).
        either: probability of the gold label by the first and by the second machine, (questions, 2).
        weight: of each question.
    """
    from scipy.optimize import minimize

    middle, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    x = (features - middle) / spread
    first, second = either.T + 1e-6

    def loss(w: Array) -> tuple[float, Array]:
        share = 1 / (1 + np.exp(-(x @ w[:-1] + w[-1])))
        p = share * first + (1 - share) * second
        slope = -weight * (first - second) * share * (1 - share) / p
        penalty = 1e-3 * np.append(w[:-1], 0)
        return (
            float(-weight @ np.log(p) + 1e-3 * w[:-1] @ w[:-1]),
            np.append(x.T @ slope, slope.sum()) + 2 * penalty,
        )

    w = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B").x
    return np.append(w[:-1] / spread, w[-1] - (w[:-1] * middle / spread).sum())
