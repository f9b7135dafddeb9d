"""Chapters of recordings that name none: from the slides that they show, and from nothing else."""

from __future__ import annotations

from ragweave.serve.chapters import chapters_of


def _shown(start: float, end: float, *texts: str) -> list[dict]:
    return [{"start": start, "end": end, "text": text, "shown": True} for text in texts]


TALK = [
    *_shown(0, 8, "An open dataset of pictures", "Otto Brandt, University of Ostvik"),
    {"start": 1.0, "end": 7.0, "text": "Welcome to my talk about the dataset."},
    *_shown(8, 30, "What it holds", "four hundred million pairs"),
    *_shown(30, 52, "What it holds", "four hundred million pairs", "filtered by similarity"),
    *_shown(52, 100, "Why we made it", "Empower independent researchers"),
]


def test_each_slide_is_a_chapter_under_its_heading_and_goes_on_while_points_are_added():
    assert chapters_of(TALK, 100) == [
        {"start": 0, "end": 8, "title": "An open dataset of pictures"},
        {"start": 8, "end": 52, "title": "What it holds"},
        {"start": 52, "end": 100, "title": "Why we made it"},
    ]


def test_signs_in_a_picture_and_titles_of_a_film_make_no_chapters():
    film = [
        *_shown(12, 14, "57"),
        *_shown(54, 56, "SOAP", "BUNNER"),
        *_shown(210, 214, "Directed by", "Hjalti Hjalmarsson", "Colin Levy"),
        *_shown(214, 218, "Music", "Sound Design by the whole Sound Team"),
    ]
    assert chapters_of(film, 230) == []


def test_one_slide_that_stays_is_no_chapter():
    assert chapters_of(_shown(0, 60, "The harbour of Ostvik", "with its two moles"), 60) == []
    assert chapters_of([line for line in TALK if not line.get("shown")], 100) == []
