"""What is stored of an item comes back, and what is known of a file saves reading it."""

import json
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.store.files import Known, Stat
from ragweave.corpora.store.rows import pack, unpack
from ragweave.corpora.types import Item, Span

text = st.text(max_size=30)
numbers = st.floats(allow_nan=False, allow_infinity=False)
spans = st.builds(
    Span,
    start=st.integers(0, 99),
    end=st.integers(0, 99),
    line=st.integers(0, 99),
    page=st.integers(0, 99),
    bbox=st.none() | st.tuples(numbers, numbers, numbers, numbers),
)
items = st.builds(
    Item,
    id=text,
    corpus=st.sampled_from(["paragraph", "document"]),
    source=text,
    title=text,
    text=text,
    locator=st.fixed_dictionaries({"kind": st.just("page"), "file": text}, optional={"page": st.integers()}),
    heading=st.lists(text, max_size=3).map(tuple),
    spans=st.lists(spans, max_size=3).map(tuple),
    ordinal=st.integers(0, 9),
    date=st.none() | st.datetimes(min_value=datetime(1000, 1, 1)),
    language=st.sampled_from(["", "en"]),
    meta=st.dictionaries(text, text, max_size=2),
)


@given(items)
def test_an_item_comes_back_as_it_was(item):
    assert unpack(json.loads(json.dumps(pack(item)))) == item


SETTLED = Stat(size=5, mtime_ns=10**9, ctime_ns=2 * 10**9, inode=7, checked_at=100.0)


@pytest.mark.parametrize(
    "change, status, params, unchanged",
    [
        ({}, "ok", "p", True),
        ({}, "partial", "p", True),
        ({}, "failed", "p", False),
        ({}, "ok", "q", False),
        ({"size": 6}, "ok", "p", False),
        ({"mtime_ns": 1}, "ok", "p", False),
        ({"ctime_ns": 1}, "ok", "p", False),
        ({"inode": 8}, "ok", "p", False),
        ({"checked_at": 200.0}, "ok", "p", True),
    ],
)
def test_a_file_is_hashed_unless_everything_about_it_is_as_it_was(change, status, params, unchanged):
    values = {name: getattr(SETTLED, name) for name in Stat.__slots__}
    assert Known("s", status, "p", SETTLED).unchanged(Stat(**{**values, **change}), params) is unchanged
