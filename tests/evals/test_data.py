import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.evals.data import groups, listed, read_jsonl, read_routed, sample
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


def test_a_missing_file_and_other_encodings_are_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_jsonl(tmp_path / "absent.jsonl")
    (tmp_path / "latin").write_bytes(b'{"query": "caf\xe9"}')
    with pytest.raises(InputError, match="UTF-8"):
        read_jsonl(tmp_path / "latin")


def test_a_text_where_a_list_is_wanted_is_a_list_of_one():
    assert listed("Nora Finch") == listed(["Nora Finch"]) == ("Nora Finch",)
    assert listed([1912, "b"]) == ("1912", "b") and listed(1912) == ("1912",)
    assert listed(None) == listed("") == listed([]) == ()


def test_ids_and_sources_are_optional(tmp_path):
    rows = read_routed(write(tmp_path, json.dumps({"query": "a", "label": "none"})), LABELS)
    assert (rows[0].id, rows[0].source) == ("0", "")


def test_near_duplicates_share_a_group_named_by_the_first():
    texts = [
        "how to replace a bike chain",
        "who wrote this",
        "how to replace a chain bike",
        "How to replace the old bike chain?",
    ]
    assert groups(texts).tolist() == [0, 1, 0, 0]


@given(st.lists(st.text(alphabet="abc ", max_size=12), max_size=12))
def test_equal_words_always_share_a_group(texts):
    found = groups([*texts, *texts])
    for i, text in enumerate(texts):
        if text.split():
            assert found[i] == found[i + len(texts)]


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.integers(0, 5))
def test_a_sample_reaches_over_the_whole_list_and_a_larger_one_holds_it(size, few, many, seed):
    rows = list(range(size))
    small, large = (sample(rows, n, seed) for n in sorted((few, many)))
    assert small == sorted(small) and len(small) == (min(few, many, size) or size)
    if min(few, many):
        assert set(small) <= set(large)


def test_the_tail_of_a_list_is_drawn_as_often_as_its_head():
    drawn = sum(i >= 252 for seed in range(50) for i in sample(range(379), 127, seed))
    assert abs(drawn / 50 - 127 / 3) < 3
