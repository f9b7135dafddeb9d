"""Texts of a catalog lie there compressed if they are long, and come back as they were."""

from __future__ import annotations

import sqlite3

from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.store.packed import LONG, packed, teach, unpacked


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=3 * LONG), st.integers(1, 40))
def test_a_text_comes_back_as_it_was_and_never_takes_more_than_it_did(text: str, times: int) -> None:
    kept = packed(text * times)
    assert unpacked(kept) == text * times
    size = len(kept if isinstance(kept, bytes) else kept.encode())
    assert size <= len((text * times).encode())


def test_a_short_text_stays_as_it_is_and_a_long_one_takes_a_part_of_it() -> None:
    assert packed("The ferry sails.") == "The ferry sails."
    assert len(packed("The ferry sails four times a day. " * 50)) < 200


def test_sql_packs_and_unpacks_as_well() -> None:
    connection = sqlite3.connect(":memory:")
    teach(connection)
    text = "The lamp of the lighthouse. " * 40
    row = connection.execute(
        "SELECT typeof(k), ragweave_unpacked(k) FROM (SELECT ragweave_packed(?) AS k)", [text]
    )
    assert row.fetchone() == ("blob", text)
    connection.close()
