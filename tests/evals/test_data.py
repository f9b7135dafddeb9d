import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.evals.data import groups, read_jsonl, read_routed, sample
from ragweave.models.errors import InputError

LABELS = ("none", "image")


def write(tmp_path, *lines):
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_rows_are_read_past_blank_lines_and_a_byte_order_mark(tmp_path):
    path = write(tmp_path, '\ufeff{"query": "a\u2028b", "label": "image"}', "", '{"query": "c", "label": "none"}')
    assert [r["query"] for r in read_jsonl(path)] == ["a\u2028b", "c"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['{"query": "a", "label": "image"}', "{broken"], "line 2 of rows.jsonl is not JSON"),
        (["[1, 2]"], "line 1 of rows.jsonl is not an object"),
        (['{"query": "a"}'], "line 1 of rows.jsonl has no label"),
        (['{"query": "a", "label": "table"}'], "unknown label 'table'"),
        (['{"query": 3, "label": "image"}'], "query of row 1 of rows.jsonl is not text"),
        ([""], "rows.jsonl holds no rows"),
        (["[" * 100_000], "line 1 of rows.jsonl is not JSON"),
    ],
)
def test_a_bad_file_is_refused_with_the_place(tmp_path, lines, message):
    with pytest.raises(InputError, match=message):
        read_routed(write(tmp_path, *lines), LABELS)


def test_near_duplicates_share_a_group_named_by_the_first():
    texts = [
        "how to replace a bike chain",
        "who wrote this",
        "how to replace a chain bike",
        "How to replace the old bike chain?",
    ]
    assert groups(texts).tolist() == [0, 1, 0, 0]


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.integers(0, 5))
def test_a_sample_reaches_over_the_whole_list_and_a_larger_one_holds_it(size, few, many, seed):
    rows = list(range(size))
    small, large = (sample(rows, n, seed) for n in sorted((few, many)))
    assert small == sorted(small) and len(small) == (min(few, many, size) or size)
    if min(few, many):
        assert set(small) <= set(large)
