"""What `ragweave setup` offers of fastembed is what fastembed lists."""

from __future__ import annotations

import pytest

from ragweave.models.image_text import text_model
from ragweave.models.offers import OFFERS, Offer

pytestmark = pytest.mark.hf
fastembed = pytest.importorskip("fastembed")


@pytest.mark.parametrize("offer", [o for o in OFFERS if o.source == "fastembed"], ids=lambda o: o.name)
def test_name_size_and_licence_of_an_offer_are_those_of_fastembed(offer: Offer) -> None:
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    kinds = {"encoder": fastembed.TextEmbedding, "reranker": TextCrossEncoder, "pictures": fastembed.ImageEmbedding}
    (row,) = [row for row in kinds[offer.part].list_supported_models() if row["model"] == offer.name]
    size = row["size_in_GB"]
    if offer.part == "pictures":
        texts = fastembed.TextEmbedding.list_supported_models()
        size += next(row["size_in_GB"] for row in texts if row["model"] == text_model(offer.name))
    assert (round(size * 1_000), row["license"]) == (offer.megabytes, offer.licence.lower())
    assert row["sources"]["hf"]
