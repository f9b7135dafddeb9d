"""Lectures of slides: `python benchmarks/decks.py [--work FOLDER] [--show]`.

Four films of six to seven slides each are drawn with the fonts of the system; two have what is said as subtitles, the
others are silent, one builds its slides up line by line. 40 questions, written before the first was asked: values and
formulas on slides, lists that are counted, entries by their number, slides by title and place, what is said to a slide
and what is shown meanwhile, and what no slide says. Right: the answer holds the value, or nothing is answered where
there is none; wrong: it was answered, and does not. `slide cited` is whether a citation lies within the seconds of the
right slide, `frame cited` whether it opens a picture of it, and R@5 whether a clip with the slide is among the first
five of the search.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from printed import answered, is_right, rates, run

FONT, BOLD = "DejaVuSans.ttf", "DejaVuSans-Bold.ttf"
LASTS = 12.0
"""Seconds of a slide."""
DECKS: dict[str, tuple[tuple[str, tuple[str, ...], str], ...]] = {
    "beekeeping": (
        ("Keeping bees in a small garden", ("Valley Evening School", "Course 7"), "Welcome to the course on bees."),
        ("Objectives", ("Choose a site", "Build a hive", "Read a colony", "Harvest honey"),
         "By tonight you will know whether bees are for you."),
        ("Tools", ("Smoker", "Hive tool", "Veil and gloves", "Soft brush", "Feeder"),
         "Buy the smoker new and everything else second hand."),
        ("The year of a colony", ("March: first flights", "May: swarming", "July: honey flow", "October: winter feed"),
         "In May you must look into the hive every nine days."),
        ("Winter feed", ("Sugar and water 3 : 2", "15 kg for each colony", "Finish before 30 September"),
         "Never feed honey of unknown origin, it carries disease."),
        ("Diseases", ("Varroa mites", "Foulbrood", "Nosema"),
         "Foulbrood has to be reported to the veterinary office."),
        ("Thank you", ("bees@valley.example",), "Questions are welcome next week."),
    ),
    "optics": (
        ("Geometrical optics", ("Lecture 4", "Physics for engineers"), "Today we bend light."),
        ("Agenda", ("Reflection", "Refraction", "Thin lenses", "Aberrations"), "Four things, in this order."),
        ("Law of refraction", ("n1 sin a = n2 sin b", "n of water: 1.33", "n of crown glass: 1.52"),
         "The ray bends towards the normal when it slows down."),
        ("Lens equation", ("1/f = 1/u + 1/v", "f is the focal length"),
         "Put the object at twice the focal length and the image is as large as the object."),
        ("Magnification", ("M = -v/u", "M < 0: upside down"), "A minus sign tells you that it is upside down."),
        ("Aberrations", ("Spherical", "Chromatic", "Coma"), "Two kinds of glass cure the coloured fringes."),
        ("Homework", ("Problems 12 to 17", "Hand in by 4 May"), "Leave problem 15 for the tutorial."),
    ),
    "bicycle_shop_review": (
        ("Third quarter review", ("Spoke and Chain", "Shop in Mill Lane"), ""),
        ("Results", ("Revenue: 212,000 euros", "Repairs: 1,140", "Returns: 2.1 %"), ""),
        ("What went wrong", ("Late delivery of frames", "No mechanic in August"), ""),
        ("Goals for winter", ("Hire one mechanic", "Rent out cargo bikes", "Open on Sundays"), ""),
        ("Staff", ("Manager: Iris Fenwick", "Workshop: Jon Aldous", "Sales: Petra Lind"), ""),
        ("Next meeting", ("14 January, 18:30", "Back room"), ""),
    ),
    "museum_onboarding": (
        ("New guides", ("Museum of Clocks",), ""),
        ("House rules", ("Arrive 20 minutes early", "Wear the badge", "No flash in room 5"), ""),
        ("Opening hours", ("Tuesday to Friday 10 - 17", "Weekend 11 - 18", "Closed on Mondays"), ""),
        ("Emergency", ("Alarm code word: Pendulum", "Call 4417", "Meet at the fountain"), ""),
        ("Groups", ("At most 15 visitors", "School classes: free", "Tour lasts 50 minutes"), ""),
        ("Steps of a tour", ("Greet", "Show the plan", "Water clocks", "Tower clocks", "Wrist watches", "Shop"), ""),
        ("Goodbye", ("See you on Tuesday",), ""),
    ),
}  # fmt: skip
BUILT = "museum_onboarding"
"""Its slides come line by line."""
ASKED: tuple[tuple[str, str, tuple[str, ...], int], ...] = (
    ("How many objectives does the course on beekeeping have?", "beekeeping", ("lists 4", "four"), 1),
    ("What is the third objective of the beekeeping course?", "beekeeping", ("read a colony",), 1),
    ("What are the objectives of the beekeeping course?", "beekeeping", ("harvest honey",), 1),
    ("How many tools are listed for keeping bees?", "beekeeping", ("lists 5", "five"), 2),
    ("What is the last tool on the slide about beekeeping tools?", "beekeeping", ("feeder",), 2),
    ("How much winter feed does each colony get?", "beekeeping", ("15 kg",), 4),
    ("In what ratio are sugar and water mixed?", "beekeeping", ("3 : 2", "3:2"), 4),
    ("When is the honey flow?", "beekeeping", ("july",), 3),
    ("What is said while the slide \"Diseases\" is shown?", "beekeeping", ("veterinary",), 5),
    ("What does the speaker say on the \"Tools\" slide?", "beekeeping", ("second hand",), 2),
    ("What does the slide show while she says that honey of unknown origin carries disease?", "beekeeping",
     ("3 : 2", "15 kg"), 4),
    ("Which slide comes after \"Winter feed\" slide?", "beekeeping", ("varroa", "diseases"), 5),
    ("What is the lens equation?", "optics", ("1/f",), 3),
    ("What is the formula for the magnification?", "optics", ("-v/u",), 4),
    ("What is the refractive index n of crown glass?", "optics", ("1.52",), 2),
    ("How many aberrations are listed in the optics lecture?", "optics", ("lists 3", "three"), 5),
    ("What is the last topic of the optics lecture?", "optics", ("aberrations",), 1),
    ("What is the second topic on the agenda of the optics lecture?", "optics", ("refraction",), 1),
    ("Which problems are homework?", "optics", ("12 to 17",), 6),
    ("By when must the problems be handed in?", "optics", ("4 may",), 6),
    ("What is said on the slide titled \"Lens equation\"?", "optics", ("twice the focal length",), 3),
    ("Which slide is shown while the lecturer says that a minus sign tells you it is upside down?", "optics",
     ("magnification", "m = "), 4),
    ("What stands on the first slide of the optics lecture?", "optics", ("geometrical optics",), 0),
    ("What was the revenue of the bicycle shop?", "bicycle_shop_review", ("212,000",), 1),
    ("How many goals for winter are there in the bicycle shop review?", "bicycle_shop_review", ("lists 3", "three"), 3),
    ("What is the second goal for winter of the bicycle shop?", "bicycle_shop_review", ("cargo bikes",), 3),
    ("What went wrong in the bicycle shop?", "bicycle_shop_review", ("late delivery",), 2),
    ("Who is the manager of the shop?", "bicycle_shop_review", ("iris fenwick",), 4),
    ("When is the next meeting of the bicycle shop?", "bicycle_shop_review", ("14 january",), 5),
    ("What share of goods was returned to the bicycle shop?", "bicycle_shop_review", ("2.1 %",), 1),
    ("What is on the slide \"Staff\"?", "bicycle_shop_review", ("petra lind",), 4),
    ("What is the code word for the alarm?", "museum_onboarding", ("pendulum",), 3),
    ("How many visitors may be in a group?", "museum_onboarding", ("15",), 4),
    ("How many steps does a tour have at the museum?", "museum_onboarding", ("lists 6", "six"), 5),
    ("What is the fourth step of a tour?", "museum_onboarding", ("tower clocks",), 5),
    ("On which day is the museum closed?", "museum_onboarding", ("monday",), 2),
    ("How many house rules are there for the new museum guides?", "museum_onboarding", ("lists 3", "three"), 1),
    ("What is the capital of the bicycle shop?", "", (), 0),
    ("How many objectives does the museum have?", "", (), 0),
    ("What is the price of a hive?", "", (), 0),
)  # fmt: skip

FURTHER: tuple[tuple[str, str, tuple[str, ...], int], ...] = (
    ("By which date must winter feeding be finished?", "beekeeping", ("30 september",), 4),
    ("Which diseases of bees are on the slide?", "beekeeping", ("nosema",), 5),
    ("What is the first tool?", "beekeeping", ("smoker",), 2),
    ("How many diseases does the bee course name?", "beekeeping", ("lists 3", "three"), 5),
    ("What is said about reporting foulbrood?", "beekeeping", ("veterinary",), 5),
    ("What is n of water?", "optics", ("1.33",), 2),
    ("What is the third topic of the optics lecture?", "optics", ("thin lenses",), 1),
    ("How is the law of refraction written?", "optics", ("n1 sin a",), 2),
    ('What is on the slide before the "Homework" slide?', "optics", ("coma",), 5),
    ("How many repairs did the bicycle shop do?", "bicycle_shop_review", ("1,140",), 1),
    ("Who works in the workshop?", "bicycle_shop_review", ("jon aldous",), 4),
    ("What is the first goal for winter?", "bicycle_shop_review", ("hire one mechanic",), 3),
    ("Where do people meet in an emergency?", "museum_onboarding", ("fountain",), 3),
    ("How long does a tour last?", "museum_onboarding", ("50 minutes",), 4),
    ("What are the opening hours of the museum?", "museum_onboarding", ("10 - 17",), 2),
    ("What is the fifth step of a tour?", "museum_onboarding", ("wrist watches",), 5),
    ("How many goals does the museum have?", "", (), 0),
    ("Who is the manager of the museum?", "", (), 0),
)
"""Asked after the failures of the first forty were read and mended."""


def draw(folder: Path) -> None:
    """Draw the slides and make them films, with subtitles beside those that are spoken to."""
    from PIL import Image, ImageDraw, ImageFont
    from video_lectures import film, subtitles

    folder.mkdir(parents=True)
    for name, slides in DECKS.items():
        frames, cues, n = [], [], 0
        for at, (title, lines, said) in enumerate(slides):
            steps = range(1, len(lines) + 1) if name == BUILT else (len(lines),)
            for shown in steps:
                image = Image.new("RGB", (1280, 720), "white")
                pen = ImageDraw.Draw(image)
                pen.text((90, 70), title, fill="navy", font=ImageFont.truetype(BOLD, 58))
                for row, line in enumerate(lines[:shown]):
                    pen.text((130, 200 + 78 * row), f"• {line}", fill="black", font=ImageFont.truetype(FONT, 40))
                path = folder / f".{name}-{n:02}.png"
                image.save(path)
                frames.append((path, LASTS / len(steps)))
                n += 1
            if said:
                start = at * LASTS
                cues.append((start + 1, start + LASTS - 1, said))
        film(frames, folder / f"{name}.mp4")
        for path in folder.glob(".*"):
            path.unlink()
        if cues:
            subtitles(cues, folder / f"{name}.vtt")


async def asked(rows: Sequence[tuple[str, str, tuple[str, ...], int]], show: bool) -> dict[str, Any]:
    """Ask the questions and return the shares."""
    from ragweave.components.context import Context
    from ragweave.corpora.store.library import open_library
    from ragweave.graphs.search import graph as search

    library, clips = await open_library("decks"), Context(mode="extractive", library="decks", corpora=("clip",))
    outcomes, cited, found = [], [], []
    for question, name, gold, at in rows:
        answer = await answered(question, "decks")
        outcomes.append((is_right(answer, gold), answer.abstained))
        if name:
            placed = [
                c for c in answer.citations
                if Path(c.locator.get("file", "")).stem == name and _meets(c.locator, at) and not answer.abstained
            ]  # fmt: skip
            cited.append((bool(placed), any(c.locator.get("image") for c in placed)))
            state = await search.ainvoke({"messages": [("human", question)]}, context=clips)
            items = await library.items(state.get("candidates", []))
            first = [items[i].locator for i in state.get("candidates", [])[:5] if i in items]
            found.append([Path(x["file"]).stem == name and _meets(x, at) for x in first])
        if show:
            print(f"{''.join('-+'[r] for r in outcomes[-1])} {question} {gold}\n      {answer.text[:300]}")
    return {
        "questions": len(rows),
        **rates(outcomes),
        "slide cited": sum(slide for slide, _ in cited) / len(cited),
        "frame cited": sum(frame for _, frame in cited) / len(cited),
        "clip R@1": sum(any(r[:1]) for r in found) / len(found),
        "clip R@5": sum(any(r) for r in found) / len(found),
    }


async def measure(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Index the films, ask both lists of questions, and return their shares."""
    from ragweave.corpora.ingest.run import index

    if not (folder / "decks").exists():
        await asyncio.to_thread(draw, folder / "decks")
    await index([folder / "decks"], "decks")
    first, further = await asked(ASKED, given.show), await asked(FURTHER, given.show)
    return first | {f"further {name}": value for name, value in further.items()}


def _meets(place: Any, at: int) -> bool:
    return bool(place.get("start", 0.0) < (at + 1) * LASTS and place.get("end", 0.0) > at * LASTS)


if __name__ == "__main__":
    os.environ["RAGWEAVE_ASR"] = "off"
    run(__doc__, measure)
