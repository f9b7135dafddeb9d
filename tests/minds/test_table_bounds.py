"""Numbers that a question bounds: their size, their notation, and that a no turns the bound round."""

from __future__ import annotations

import pytest

from ragweave.tests.support.tables import said

CITIES = "City | Inhabitants\nLyon | 520000\nParis | 2100000\nNice | 340000\nMarseille | 870000\n"
GERMAN = "Posten | Betrag (€)\nMiete | 1.250,50\nStrom | 980,00\nPorto | 45,20\nUmbau | 2.100,00\n"
ITEMS = "Item | Weight kg\nA | 5\nB | 15\nC | 25\n"
GOODS = "Product | Price €\nMug | 8\nLamp | 20\nChair | 75\n"
PLANTS = "Plant | Power (MW)\nDam | 3\nMill | 12\nFarm | 40\n"


@pytest.mark.parametrize(
    ("table", "question", "answer"),
    [
        (CITIES, "Which cities have more than 1 million inhabitants?", "Paris."),
        (CITIES, "Which cities have over 500k inhabitants?", "Lyon; Paris; Marseille (Inhabitants > 500,000)."),
        (CITIES, "Which cities have less than 500 thousand inhabitants?", "Nice."),
        (GERMAN, "Which items cost over 1.000 €?", "Miete; Umbau (Betrag > 1,000)."),
        (GERMAN, "Which items cost over 1,000 €?", "Miete; Umbau (Betrag > 1,000)."),
        (GERMAN, "Which items cost more than 1.250,00 €?", "Miete; Umbau (Betrag > 1,250)."),
        (ITEMS, "Which items weigh more than 1,5 kg?", "A; B; C (Weight kg > 1.5)."),
        (ITEMS, "Which items are not over 10 kg?", "A."),
        (ITEMS, "How many items are not heavier than 20 kg?", "2 of 3 rows with Weight kg <= 20: A; B."),
        (GOODS, "Which products do not cost more than 20 €?", "Mug; Lamp (Price € <= 20)."),
        (GOODS, "Which products are not under 10 €?", "Lamp; Chair (Price € >= 10)."),
        (PLANTS, "Which plants have over 5000 kW?", "Mill; Farm (Power > 5,000 kW)."),
        (PLANTS, "Which plants have over 5 mW?", "Dam; Mill; Farm (Power > 5 mW)."),
        (PLANTS, "Which plants have over 5 MW?", "Mill; Farm (Power > 5)."),
    ],
)
def test_a_bound_is_read_with_its_size_its_notation_and_its_no(table: str, question: str, answer: str) -> None:
    assert said(question, table, "list") == answer


HERBS = "Herb | In store (g) | Minimum (g) | Price (EUR)\nmint | 40 | 50 | 2\nsage | 80 | 50 | 3\ndill | | 10 | 1\n"
WARDS = "Ward | Boys | Girls | Beds\nA | 5 | 7 | 20\nB | 9 | 2 | 10\nC | 4 | 6 | 8\n"
BUILT = "Project | Spent (EUR) | Budget (EUR) | Hours\nBarn | 900 | 800 | 20\nRoof | 500 | 700 | 30\n"


@pytest.mark.parametrize(
    ("table", "question", "answer"),
    [
        (HERBS, "Which herbs are below their minimum?", "mint."),
        (HERBS, "Which herbs are not below the minimum?", "sage."),
        (HERBS, "What is the lowest minimum?", "dill: Minimum 10 g, the lowest of 3 rows."),
        (WARDS, "Which wards have fewer boys than girls?", "A; C (Boys < Girls)."),
        (WARDS, "Which ward has more beds than B?", ""),
        (WARDS, "Which wards are above their girls?", ""),  # boys, or beds
        (BUILT, "How many projects are over budget?", "1 of 2 rows with Spent > Budget: Barn."),
        (BUILT, "How much did the projects over budget cost in total?", ""),
        (BUILT, "Which projects took more hours than their budget?", ""),
    ],
)
def test_two_numbers_of_a_row_are_compared_where_it_is_certain_which(table: str, question: str, answer: str) -> None:
    assert said(question, table, "list") == answer
