import pytest

from ragweave.corpora.store.files import Known, Stat

pytestmark = pytest.mark.both

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
