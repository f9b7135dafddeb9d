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


def test_an_address_of_a_cluster_says_what_each_actor_takes():
    assert CorporaSettings(ray="auto").ray_shares == (1.0, 0.0)
    settings = CorporaSettings(ray="head:6379?cpus=2&gpus=0.25")
    assert (settings.ray_address, settings.ray_shares) == ("head:6379", (2.0, 0.25))


def test_an_address_of_a_chroma_server_names_its_tenant_and_database():
    assert CorporaSettings(chroma_url="http://c:8000/").chroma == (
        "http://c:8000",
        "default_tenant",
        "default_database",
    )
    settings = CorporaSettings(chroma_url="http://c:8000?tenant=us&database=notes")
    assert settings.chroma == ("http://c:8000", "us", "notes")


@pytest.mark.parametrize(
    "given",
    [
        {"ray": "auto?cpus=0"},
        {"ray": "auto?gpus=many"},
        {"ray": "auto?cpu=1"},
        {"chroma_url": "http://c?tenants=a"},
    ],
)
def test_an_address_that_says_something_else_is_refused(given):
    with pytest.raises(ValidationError):
        CorporaSettings(**given)
