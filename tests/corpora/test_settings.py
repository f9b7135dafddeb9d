from pathlib import Path

import pytest
from pydantic import ValidationError

from ragweave.corpora.settings import CorporaSettings


def test_the_home_is_read_from_the_environment_and_made_absolute(monkeypatch):
    monkeypatch.setenv("RAGWEAVE_HOME", "~/somewhere")
    assert CorporaSettings().home == Path.home() / "somewhere"


@pytest.mark.parametrize(
    "name, value", [("PARSE_SECONDS", "0"), ("PARSE_MEMORY_MB", "1"), ("MAX_FILE_MB", "0")]
)
def test_limits_have_bounds(monkeypatch, name, value):
    monkeypatch.setenv(f"RAGWEAVE_{name}", value)
    with pytest.raises(ValidationError):
        CorporaSettings()
