"""What a question asks of the timeline."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.minds.small.timeline import asked_of, subject, wants_whole


@pytest.mark.parametrize(
    ("question", "kind", "thing"),
    [
        ("When is GPT-3 first mentioned?", "first", "GPT-3"),
        ("When is the haircut first mentioned in the film?", "first", "haircut"),
        ("At what time does the speaker first mention Common Crawl?", "first", "Common Crawl"),
        ("When do they talk about transformers for the first time?", "first", "transformers"),
        ("What was the first mention of Hugging Face?", "first", "Hugging Face"),
        ("When is machine learning mentioned?", "first", "machine learning"),
        ("Where in the lecture is attention last mentioned?", "last", "attention"),
        ('How many times is "Agent 327" mentioned?', "count", "Agent 327"),
        ("How many times does Chris say the word data in the episode?", "count", "data"),
        ("How often is BERT mentioned across all videos?", "count", "BERT"),
        ("What comes after the haircut?", "after", "haircut"),
        ("What does she say right after the first demo?", "after", "first demo"),
        ("What is said before “Boris”?", "before", "Boris"),
        ("What comes right after the nosetests command is mentioned?", "after", "nosetests command"),
        ("Which videos mention the moon?", "count", "moon"),
        ("Which of the episodes talk about rye bread?", "count", "rye bread"),
        ("In which recordings is Pinecone mentioned?", "count", "Pinecone"),
        ("What is the title shown at the end of the fantasy trailer?", "at", "title"),
        ("What does she say about rye between 10:00 and 20:00?", "at", "rye"),
        ("What is said at 12:30?", "at", ""),
        ("What is explained at the beginning of the lecture on Make?", "at", ""),
        ("“注意力”被提到了几次?", "count", "注意力"),
        ("什么时候第一次提到机器学习?", "first", "机器学习"),
    ],
)
def test_a_question_of_the_timeline_is_recognised_with_its_subject(question: str, kind: str, thing: str) -> None:
    asked = asked_of(question)
    assert asked is not None
    assert (asked.kind, asked.thing) == (kind, thing)


@pytest.mark.parametrize(
    "question",
    [
        "When was the observatory opened?",
        "What did he do after graduating?",
        "Who founded the firm?",
        "What excuse does Agent 327 give when he is caught looking around?",
        "How many image-text pairs does the dataset in the talk contain?",
        "What is the name the barber calls out before the attack?",
        "",
    ],
)
def test_a_question_about_what_was_said_is_none_of_the_timeline(question: str) -> None:
    assert asked_of(question) is None


def test_a_title_is_no_part_of_what_is_asked_about() -> None:
    asked = asked_of("How often is rye mentioned in lecture 3?", ["lecture 3"])
    assert asked is not None and (asked.kind, asked.thing) == ("count", "rye")


def test_two_things_are_compared_by_their_order() -> None:
    asked = asked_of("Which is mentioned first, CLIP or DALL-E?")
    assert asked is not None
    assert (asked.kind, asked.thing, asked.other, asked.late) == ("order", "CLIP", "DALL-E", False)
    later = asked_of("Which comes last, the demo or the questions?")
    assert later is not None and later.late


def test_a_subject_loses_its_article_its_quotation_marks_and_where_it_is_looked_for() -> None:
    assert subject("the word “data” in the whole episode") == "data"
    assert subject("the neural network in this lecture?") == "neural network"


@pytest.mark.parametrize(
    ("question", "whole"),
    [
        ("Which videos are about technology?", True),
        ("What are the main points of the lecture?", True),
        ("Summarise the talk.", True),
        ("What does the chief answer?", False),
    ],
)
def test_a_question_about_recordings_as_wholes_is_told_from_one_about_a_moment(question: str, whole: bool) -> None:
    assert wants_whole(question) is whole


@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error(question: str) -> None:
    asked_of(question)
