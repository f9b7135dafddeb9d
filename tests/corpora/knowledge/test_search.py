"""What the graph reads of the entities that a question leads to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.knowledge.search import READ, within_budget


def test_the_weightiest_come_first_and_what_stands_everywhere_is_passed_over() -> None:
    spread = {"host": 900, "guest": 40, "book": 3}
    assert list(within_budget({"guest": 2.0, "host": 1.5, "book": 1.0}, spread)) == ["guest", "book"]


def test_one_entity_is_read_however_often_it_stands() -> None:
    assert within_budget({"host": 1.0}, {"host": READ * 10}) == {"host": 1.0}
    assert within_budget({"host": 1.0}, {"host": READ * 10}, least=0) == {}


@given(st.dictionaries(st.text(max_size=3), st.tuples(st.floats(0, 9), st.integers(1, 900)), max_size=20))
def test_the_budget_is_kept_but_for_the_first(rows: dict[str, tuple[float, int]]) -> None:
    spread = {k: n for k, (_, n) in rows.items()}
    kept = within_budget({k: s for k, (s, _) in rows.items()}, spread)
    assert sum(spread[k] for k in list(kept)[1:]) <= READ
    assert bool(kept) == bool(rows)
