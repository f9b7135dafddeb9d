import pytest

from ragweave.evals.data import read_routed
from ragweave.models.errors import InputError

LABELS = ("none", "image")


def write(tmp_path, *lines):
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


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
