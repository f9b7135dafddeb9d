from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.tests.corpora.formats.samples import Sample, samples

HELD = list(samples())


@pytest.mark.parametrize("sample", HELD, ids=[f"{s.golden.stem}: {s.behaviour}" for s in HELD])
def test_a_sample_is_read_as_its_golden_file_says(sample: Sample, tmp_path: Path) -> None:
    assert sample.read(tmp_path) == sample.expected
