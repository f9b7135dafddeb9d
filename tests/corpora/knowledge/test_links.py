"""Names of one entity."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.knowledge.facts import key_of
from ragweave.corpora.knowledge.links import groups, pairs
from ragweave.corpora.knowledge.store import Named


def named(name: str, kind: str = "") -> Named:
    return Named(key_of(name), name, kind, 1, 1)


def joined(*names: Named) -> set[frozenset[str]]:
    shown = {n.key: n.name for n in names}
    return {frozenset((shown[a], shown[b])) for a, b, _ in pairs(names)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (named("DeepLearning"), named("deep learning")),
        (named("GPU"), named("GPUs")),
        (named("BYU"), named("Brigham Young University")),
        (named("Chris"), named("Chris Benson", "person")),
    ],
)
def test_names_of_one_entity_are_joined(one: Named, other: Named) -> None:
    assert joined(one, other) == {frozenset((one.name, other.name))}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (named("GPT-2 model"), named("GPT-3 model")),
        (named("Python"), named("PyTorch")),
        (named("Mercury", "planet"), named("mercury's", "metal")),
        (named("Adam"), named("Jeff Adams", "person")),
    ],
)
def test_different_entities_stay_two(one: Named, other: Named) -> None:
    assert not joined(one, other)


def test_a_first_name_of_two_people_belongs_to_neither() -> None:
    assert not joined(named("Chris"), named("Chris Benson", "person"), named("Chris Lattner", "person"))


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=12))
def test_groups_are_the_connected_parts(edges: list[tuple[str, str]]) -> None:
    root = groups((min(a, b), max(a, b), "x") for a, b in edges)
    for a, b in edges:
        assert root[a] == root[b]
    assert all(root[root[key]] == root[key] for key in root)
