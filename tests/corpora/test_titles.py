from __future__ import annotations

from ragweave.corpora.titles import told_apart


def test_documents_of_one_title_are_told_apart_by_their_files() -> None:
    listed = [("FORM 10-Q", "/a/apple.pdf"), ("FORM 10-Q", "/a/intel.pdf"), ("Tides", "/a/tides.pdf")]
    assert told_apart(listed) == ["FORM 10-Q (apple.pdf)", "FORM 10-Q (intel.pdf)", "Tides"]
