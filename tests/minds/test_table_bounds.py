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
