"""What LightGBM trained, as the arrays that the shipped relevance evaluator walks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragweave.models.relevance import Trees


def arrays(trees: Trees, prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays by name, for `numpy.savez`; `Trees.load` reads them back."""
    return {f"{prefix}_{f.name}": getattr(trees, f.name) for f in fields(trees)}


def from_dump(dump: Mapping[str, Any]) -> Trees:
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
    return Trees(feature, threshold, left, right, value, depth)


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
