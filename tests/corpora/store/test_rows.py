import json
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

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
