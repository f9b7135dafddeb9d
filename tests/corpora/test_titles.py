from __future__ import annotations

import pytest

from ragweave.corpora.blocks import Block
from ragweave.corpora.titles import filed_under, title_of, told_apart

COMMISSION = "UNITED STATES\nSECURITIES AND EXCHANGE COMMISSION"
CAPTION = "(Exact name of Registrant as specified in its charter)"


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        (
            [COMMISSION, "FORM 10-Q", "For the quarterly period ended July 1, 2023", "Apple Inc.", CAPTION],
            "Apple Inc. FORM 10-Q, July 1, 2023",
        ),
        (
            [
                "FORM 10-Q",
                COMMISSION,
                "AMAZON.COM, INC.",
                CAPTION,
                "for the quarterly period ended September 30, 2023",
            ],
            "AMAZON.COM, INC. FORM 10-Q, September 30, 2023",
        ),
        (
            ["Form 10-K/A", "For the Fiscal Year Ended: January 29, 2023", f"NVIDIA CORPORATION\n{CAPTION}"],
            "NVIDIA CORPORATION Form 10-K/A, January 29, 2023",
        ),
        (
            [
                "FORM 8-K",
                "Date of Report (Date of earliest event reported): May 4, 2023",
                "Intel Corporation",
                CAPTION,
            ],
            "Intel Corporation FORM 8-K, May 4, 2023",
        ),
        (
            ["FORM 20-F", "Nordsee SE", "(Exact name of registrant as specified in its charter)"],
            "Nordsee SE FORM 20-F",
        ),
        (
            [
                "FORM 10-Q",
                "For the quarter ended",
                "April 1, 2023",
                "Tarn Inc. (Exact name of registrant as",
                "specified in its charter)",
            ],
            "Tarn Inc. FORM 10-Q, April 1, 2023",
        ),
        (["Lease", "This form 10-Q is quoted here.", "The quarter ended July 1, 2023 was dry."], ""),
        (["FORM 10-Q", "A report without its registrant"], ""),
    ],
)
def test_a_filing_is_called_after_its_registrant_its_form_and_its_period(
    lines: list[str], title: str
) -> None:
    assert filed_under([Block(line, "text", page=1) for line in lines]) == title


@pytest.mark.parametrize(
    ("stated", "lines", "name", "title"),
    [
        ("Tides of the North", ["3 Harbour Office", "1 Tides of the North"], "t.pdf", "Tides of the North"),
        (
            "",
            ["2 HARBOUR ESTATES LTD", "1 LEASE AGREEMENT", "3 dated 14 March 2024"],
            "lease.pdf",
            "LEASE AGREEMENT",
        ),
        ("Microsoft Word - lease_v3.docx", ["1 LEASE AGREEMENT"], "lease_v3.pdf", "LEASE AGREEMENT"),
        ("x200_manual_EN.indd", ["1 X200 Coffee Grinder", "2 User manual"], "m.pdf", "X200 Coffee Grinder"),
        ("Document", ["1 Bericht des Vorstands"], "b.pdf", "Bericht des Vorstands"),
        ("04.01.2023 Dokument", ["1 Bericht des Vorstands"], "b.pdf", "Bericht des Vorstands"),
        ("Bericht des Vorstands", ["1 RHEIN AG"], "bericht_des_vorstands.pdf", "Bericht des Vorstands"),
        ("Bericht", [], "scan.pdf", "Bericht"),
        ("", ["2 A line in no larger type than others"], "a.pdf", ""),
        ("潮汐年报", ["1 北方潮汐年报"], "a.pdf", "潮汐年报"),
    ],
)
def test_a_document_is_called_as_its_first_page_says_and_by_metadata_that_it_bears_out(
    stated: str, lines: list[str], name: str, title: str
) -> None:
    """Each line stands with the rank of its size."""
    assert (
        title_of(stated, [Block(line[2:], "heading", int(line[0]), page=1) for line in lines], name) == title
    )


def test_documents_of_one_title_are_told_apart_by_their_files() -> None:
    listed = [("LEASE", "/a/quay.pdf"), ("LEASE", "/a/mole.pdf"), ("Tides", "/a/tides.pdf")]
    assert told_apart(listed) == ["LEASE (quay.pdf)", "LEASE (mole.pdf)", "Tides"]
