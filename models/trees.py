"""Gradient-boosted trees in numpy: what a LightGBM booster predicts, without LightGBM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Trees:
    """T binary trees of at most N nodes. A leaf points to itself, so that every row can walk the full depth.

    Attributes:
        feature: (T, N), column that a node reads.
        threshold: (T, N), rows at or below it go left; infinite at leaves.
        left: (T, N), index of the left child.
        right: (T, N), index of the right child.
        value: (T, N), output of a leaf, 0 elsewhere.
        depth: (), steps from the root to the deepest leaf.
    """

    feature: NDArray[np.int16]
    threshold: NDArray[np.float64]
    left: NDArray[np.int16]
    right: NDArray[np.int16]
    value: NDArray[np.float64]
    depth: NDArray[np.int16]

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the raw score, (n,), of rows (n, features): the sum of the leaves they reach."""
        return np.asarray(self.leaves(x).sum(axis=1))

    def leaves(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value of the leaf that each row reaches in each tree, (n, T).

        Args:
            x: features, finite.
        """
        count, width = self.feature.shape
        offset = np.arange(count) * width
        node = np.zeros((len(x), count), dtype=np.intp)
        feature, threshold = self.feature.ravel(), self.threshold.ravel()
        left, right = self.left.ravel(), self.right.ravel()
        rows = np.arange(len(x))[:, None]
        for _ in range(int(self.depth)):
            at = node + offset
            node = np.where(x[rows, feature[at]] <= threshold[at], left[at], right[at])
        return np.asarray(self.value.ravel()[node + offset])

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """Return the arrays by name, for `numpy.savez`."""
        return {f"{prefix}_{f.name}": getattr(self, f.name) for f in fields(self)}

    @classmethod
    def load(cls, stored: Mapping[str, NDArray[Any]], prefix: str) -> Trees:
        """Read back what `arrays` gave."""
        return cls(**{f.name: stored[f"{prefix}_{f.name}"] for f in fields(cls)})

    @classmethod
    def from_dump(cls, dump: Mapping[str, Any]) -> Trees:
        """Convert the result of LightGBM's `Booster.dump_model()` with numerical splits only.

        Raises:
            ValueError: a split is categorical.
        """
        flat = [_flatten(info["tree_structure"]) for info in dump["tree_info"]]
        count, width = len(flat), max(len(t) for t in flat)
        feature = np.zeros((count, width), dtype=np.int16)
        threshold = np.full((count, width), np.inf)
        left = np.tile(np.arange(width, dtype=np.int16), (count, 1))
        right = left.copy()
        value = np.zeros((count, width))
        for i, tree in enumerate(flat):
            for j, node in enumerate(tree):
                if node.leaf:
                    value[i, j] = node.value
                else:
                    feature[i, j], threshold[i, j] = node.feature, node.value
                    left[i, j], right[i, j] = node.left, node.right
        depth = np.array(max(n.depth for t in flat for n in t), dtype=np.int16)
        return cls(feature, threshold, left, right, value, depth)


@dataclass
class _Node:
    depth: int
    leaf: bool
    value: float
    feature: int = 0
    left: int = 0
    right: int = 0


def _flatten(root: Mapping[str, Any]) -> list[_Node]:
    """List the nodes of one tree, parents before children, children by index."""
    nodes: list[_Node] = []

    def add(at: Mapping[str, Any], depth: int) -> int:
        index = len(nodes)
        if "split_feature" not in at:
            nodes.append(_Node(depth, True, float(at["leaf_value"])))
            return index
        if at["decision_type"] != "<=":
            raise ValueError(f"a split of type {at['decision_type']!r} cannot be converted, only '<='")
        nodes.append(_Node(depth, False, float(at["threshold"]), int(at["split_feature"])))
        nodes[index].left = add(at["left_child"], depth + 1)
        nodes[index].right = add(at["right_child"], depth + 1)
        return index

    add(root, 0)
    return nodes
