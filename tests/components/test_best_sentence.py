from __future__ import annotations

import pytest

from ragweave.components.best_sentence import best_sentence

PLOTS = "plot | tenant | fee\n3 | Adeyemi | 74\n12 | Castellanos | 0\n17 | Adeyemi | 74\n21 | Dvorak | 37"


@pytest.mark.parametrize(
    ("sentence", "quoted"),
    [
        ("Plot 21, tenant Dvorak, paid a fee of 37 EUR.", PLOTS.split("\n")[4:]),
        ("21 | Dvorak | 37", PLOTS.split("\n")[4:]),
        ("The tenant of 17 is Adeyemi.", PLOTS.split("\n")[3:4]),
        ("Adeyemi and Dvorak are tenants.", PLOTS.split("\n")),
        ("The fee was 185 EUR in all, with the plots of each tenant.", PLOTS.split("\n")),
        ("It is due by May.", ["Due by May."]),
    ],
)
def test_a_table_is_quoted_by_the_matching_row_or_by_all_rows_that_match_equally(
    sentence: str, quoted: list[str]
) -> None:
    assert best_sentence(sentence, f"Due by May.\n\n{PLOTS}") == "\n".join(quoted)


def test_a_mail_is_quoted_by_its_matching_line_and_not_by_its_head() -> None:
    head = (
        "From: Jonas Vik <jonas@vik-holz.example>\nTo: Priya Nair <priya@tern.example>\nSubject: Offer shed"
        " roof"
    )
    mail = f"{head}\n\nFor the roof:\n- larch boards: 1,140 EUR\n- work: 960 EUR\n\nAll without VAT (25 %)."
    assert best_sentence("Jonas Vik offers it: 2,100 EUR without VAT.", mail) == "All without VAT (25 %)."
    assert (
        best_sentence("Jonas Vik offers the larch boards for 1,140 EUR.", mail) == "- larch boards: 1,140 EUR"
    )


@pytest.mark.parametrize(
    "sentence", ["The gross margin was 74.0 % in the third quarter.", "Die Marge stieg 2024 auf 74,0 %."]
)
def test_a_sentence_with_the_figure_wins_over_one_with_more_shared_words(sentence: str) -> None:
    effect = "The net effect on our gross margin was 2.4% and 2.6% in the third quarter of 2024."
    fact = "Our margins were 74.0%."
    assert best_sentence(sentence, f"{effect} {fact}") == fact
