"""The text side of a picture, part by part."""

from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.parts import PARTS, chunk_ranges, columns, compose, part
from ragweave.corpora.store.prepared import chunks
from ragweave.corpora.types import Item

texts = st.dictionaries(st.sampled_from(PARTS), st.text(max_size=60))


def item(parts, title="", heading=(), name="") -> Item:
    text, ranges = compose(parts)
    return Item(
        "i", "image", "s", title, text, {"kind": "image"}, heading, meta={"parts": ranges, "name": name}
    )


def test_parts_stand_in_their_order_and_can_be_told_apart():
    made = item({"around": "It stands at the pier.", "caption": "Figure 1: the mole", "words": "MOLE 1"})
    assert made.text == "Figure 1: the mole\n\nMOLE 1\n\nIt stands at the pier."
    assert [part(made, name) for name in PARTS] == [
        "Figure 1: the mole",
        "",
        "",
        "MOLE 1",
        "It stands at the pier.",
    ]


@given(texts)
def test_every_range_holds_its_part_and_chunks_never_leave_the_text(parts):
    made = item(parts)
    for name, (start, end) in made.meta["parts"].items():
        assert made.text[start:end] == parts[name].strip()
    for start, end in chunks(made, 300):
        assert 0 <= start <= end <= len(made.text)


def test_the_caption_weighs_most_then_the_name_then_words_and_surroundings():
    made = item(
        {"caption": "mole", "alt": "pier", "words": "W", "around": "A"}, "Harbours", ("Brest",), "grand mole"
    )
    assert columns(made) == ("mole\npier", "Brest\nHarbours\ngrand mole", "W\nA")


def test_what_was_written_the_words_and_the_surroundings_are_embedded_apart():
    made = item({"caption": "mole", "alt": "pier", "words": "W", "around": "A"})
    assert [made.text[a:b] for a, b in chunk_ranges(made, [(0, 99)])] == ["mole\n\npier", "W", "A"]
