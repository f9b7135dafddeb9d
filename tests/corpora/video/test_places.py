"""Recordings that a question names as the place to look."""

from __future__ import annotations

import pytest

from ragweave.corpora.video.places import named_in, on_topic


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("How often is rye mentioned in lecture 3?", ["lecture 3"]),
        ("What happens at the end of the film Sintel?", ["Sintel"]),
        ("What is said in “lecture 3”?", ["lecture 3"]),
        ("Who is Sintel?", []),
        ("What is in lecture 31?", []),
    ],
)
def test_a_recording_that_is_named_as_the_place_is_told_from_one_that_is_only_named(
    question: str, named: list[str]
) -> None:
    assert named_in(question, ["lecture 3", "Sintel"]) == named


FILES = ["laion400m_talk", "nasa_13013", "sintel_trailer_480p", "make_intro", "vc_intro"]


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Which address is given at the end of the LAION talk?", ["laion400m_talk"]),
        ("What is assembled in the NASA clip?", ["nasa_13013"]),
        ("What appears at the end of the trailer?", ["sintel_trailer_480p"]),
        ("What does the trailer say about dragons?", ["sintel_trailer_480p"]),
        ("What appears at the end of the fantasy trailer?", []),
        ("What is explained in the lecture on Make?", ["make_intro"]),
        ("What is explained in the lecture on make and shell?", []),
        ("Who writes a paper in the version control lecture?", []),
        ("What does NASA say about the trailer?", []),
        ("What is the LAION talk?", []),
    ],
)
def test_words_of_a_title_name_a_recording_as_the_place(question: str, named: list[str]) -> None:
    assert named_in(question, FILES) == named


def test_words_that_fit_every_title_narrow_nothing() -> None:
    assert named_in("What is said in the weekly meeting?", ["weekly meeting 1", "weekly meeting 2"]) == []


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What does Chris say about code in episode 140?", ["practical-ai-140"]),
        ("What is module 2 about?", ["Module 2 - Routing"]),
        ("Which tool is used in lesson 02?", ["Module 2 - Routing", "week-2"]),
        ("What is said in episode 14?", []),
        ("How many modules are there?", []),
    ],
)
def test_a_number_names_a_recording(question: str, named: list[str]) -> None:
    titles = ["practical-ai-140", "practical-ai-141", "Module 2 - Routing", "week-2"]
    assert named_in(question, titles) == named


LECTURES = ["Module 2 - lecture", "GIS 101", "Module 3"]


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What is a keystream in the lecture on stream ciphers?", []),
        ("How long is the key of the stream cipher lecture?", []),
        ("What is a keystream in the lecture?", ["Module 2 - lecture"]),
        ("Which projection does the GIS course use?", ["GIS 101"]),
        ("What does module 3 say about keys?", ["Module 3"]),
        ("How do we cope in the course of the year?", []),
    ],
)
def test_the_kind_alone_names_a_recording_only_where_nothing_else_describes_it(question: str, named: list[str]) -> None:
    assert named_in(question, LECTURES) == named


ABOUT = {
    "Module 2 - lecture": "Module 2 - lecture\n\nKey phrases: block cipher, S box.",
    "GIS 101": "GIS 101\n\nKey phrases: map projection, raster.",
    "Module 3": "Module 3\n\nKey phrases: stream ciphers, keystream, block cipher.",
}


@pytest.mark.parametrize(
    ("topic", "found"),
    [
        ("stream cipher", ["Module 3"]),
        ("block ciphers", ["Module 2 - lecture", "Module 3"]),
        ("hash functions", []),
        ("", []),
    ],
)
def test_a_topic_finds_the_recordings_that_are_on_it(topic: str, found: list[str]) -> None:
    assert on_topic(topic, ABOUT) == found


def test_a_topic_that_all_recordings_share_finds_none() -> None:
    assert on_topic("lecture", {"a": "lecture one", "b": "lecture two"}) == []


TITLED = ["Stream ciphers: an introduction (lecture 3)", "Block ciphers (lecture 4)", "teaser"]


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("How often is a key mentioned in lecture 3?", TITLED[:1]),
        ("How often is a key mentioned in Block ciphers?", TITLED[1:2]),
        ("What is said in the lecture on stream ciphers?", TITLED[:1]),
        ("What does lecture 5 say?", []),
    ],
)
def test_a_recording_is_found_by_its_title_and_by_the_name_of_its_file(question: str, named: list[str]) -> None:
    assert named_in(question, TITLED) == named
