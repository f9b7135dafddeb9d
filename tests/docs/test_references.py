"""Every file, heading, link and knob that a page names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ragweave.components.method import Method
from ragweave.tests.docs.pages import PAGES, ROOT

FENCE = re.compile(r"^( *)```.*?^\1```$", re.M | re.S)
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)")
FILE = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|md|toml|yaml|jsonl?|mjs|service))(?:::\w+)?`")
TO_WRITE = {
    "nodes/tally.py",
    "tests/nodes/test_tally.py",
    "corpora/formats/org.py",
    "tests/corpora/formats/golden/org.txt",
}
"""Files that the guide has the reader write."""
ROOMS = {folder.name for folder in ROOT.iterdir() if folder.is_dir()}


def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_relative_link_leads_to_a_file_and_its_heading(page: Path) -> None:
    for name, anchor in LINK.findall(prose(page)):
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), name
        assert not anchor or anchor in anchors(target), f"{name}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_file_of_the_checkout_that_a_page_names_exists(page: Path) -> None:
    for name in FILE.findall(prose(page)):
        if name.split("/")[0] in ROOMS and name not in TO_WRITE:
            assert (ROOT / name).is_file(), name


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_knob_of_a_method_that_a_page_names_exists(page: Path) -> None:
    named = re.findall(r"(?<!/)\bmethod\.([a-z_]+)", page.read_text(encoding="utf-8"))
    assert {*named} <= {*Method.model_fields}
