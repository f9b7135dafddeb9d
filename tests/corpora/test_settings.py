from pathlib import Path

import pytest
from pydantic import ValidationError

from ragweave.corpora.settings import CorporaSettings, corpora_settings


def test_the_home_is_read_from_the_environment_and_made_absolute(monkeypatch):
    monkeypatch.setenv("RAGWEAVE_HOME", "~/somewhere")
    assert CorporaSettings().home == Path.home() / "somewhere"


def test_without_a_variable_the_home_is_the_users_data_folder(monkeypatch):
    monkeypatch.delenv("RAGWEAVE_HOME")
    assert CorporaSettings().home.is_absolute()
    assert "ragweave" in CorporaSettings().home.name


@pytest.mark.parametrize("name, value", [("PARSE_SECONDS", "0"), ("PARSE_MEMORY_MB", "1"), ("MAX_FILE_MB", "0")])
def test_limits_have_bounds(monkeypatch, name, value):
    monkeypatch.setenv(f"RAGWEAVE_{name}", value)
    with pytest.raises(ValidationError):
        CorporaSettings()


def test_settings_are_read_once_per_process():
    assert corpora_settings() is corpora_settings()
