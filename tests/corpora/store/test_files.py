import os

import pytest

from ragweave.corpora.ingest.walk import vanished
from ragweave.corpora.store.files import Known, Stat, check_unchanged, identify
from ragweave.models.errors import SourceError

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


def test_identity_is_the_bytes_and_not_the_name(tmp_path):
    for name in ("a.md", "b.txt"):
        (tmp_path / name).write_text("same")
    (tmp_path / "c.md").write_text("other")
    a, b, c = (identify(str(tmp_path / n), "p", 1) for n in ("a.md", "b.txt", "c.md"))
    assert a.source == b.source != c.source
    assert identify(str(tmp_path / "a.md"), "q", 1).source != a.source


def test_a_file_that_vanished_or_changed_is_noticed(tmp_path):
    path = tmp_path / "a.md"
    path.write_text("one")
    seen = Stat.of(str(path))
    check_unchanged(str(path), seen)
    path.write_text("two!")
    with pytest.raises(SourceError, match="changed while"):
        check_unchanged(str(path), seen)
    path.unlink()
    with pytest.raises(SourceError, match="changed while"):
        check_unchanged(str(path), seen)
    with pytest.raises(SourceError, match="cannot be read"):
        identify(str(path), "p", 1)


def test_only_what_is_gone_from_a_given_root_has_vanished(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "ab").mkdir()
    known = {str(tmp_path / p): None for p in ("a/here", "a/gone", "a/locked", "ab/gone", "away/gone")}
    (tmp_path / "a" / "here").touch()
    look = os.lstat

    def denied(path, **options):
        if str(path).endswith("locked"):
            raise PermissionError
        return look(path, **options)

    monkeypatch.setattr(os, "lstat", denied)
    roots = [tmp_path / "a", tmp_path / "away"]
    assert vanished(known, [str(tmp_path / "a/here")], roots) == [str(tmp_path / "a/gone")]
