"""Asking for a picture: `python benchmarks/pictures.py DATA [--work FOLDER] [--show]`.

The astronomy book with its pictures (alternative texts and titles; captions are withheld) is asked for pictures in the
words of a reader. Right: the picture is among those that the answer cites; for what no picture shows, nothing is
answered. Halves by the hash of the question.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
from pathlib import Path
from typing import Any

from printed import answered, rates, run

ASKED = (
    ("Which picture shows a river with red water?", "OSC_Astro_30_02_Acidophile"),
    ("Show me the globe of Mars that Lowell made", "OSC_Astro_10_01_MarsGlobe"),
    ("Is there a diagram of the orbits of the planets and dwarf planets?", "OSC_Astro_07_01_Orbits"),
    ("Show me a photo of the people of Project Ozma", "OSC_Astro_30_04_Ozma"),
    ("Which image shows the Horsehead Nebula in the infrared?", "OSC_Astro_20_03_Infrared"),
    ("Show me the highlands of the Moon", "OSC_Astro_09_02_Highland"),
    ("Which graph shows how hot the atmosphere of the Sun is at each height?", "OSC_Astro_15_01_Upward"),
    ("Is there a photograph of Barnard with a telescope?", "OSC_Astro_20_03_Barnard"),
    ("Show me an asteroid without craters", "OSC_Astro_13_01_Itokawa"),
    ("Show me a picture of the Orion Nebula", "OSC_Astro_01_04_Nebula"),
    ("Which diagram shows where reflecting telescopes bring light to a focus?", "OSC_Astro_06_01_Focusarran"),
    ("Which picture shows what is left of supernova 1006?", "OSC_Astro_23_05_SN1006"),
    ("Is there a painting of John Goodricke?", "OSC_Astro_19_03_Goodricke"),
    ("Show me the car seat that a meteorite went through", "OSC_Astro_14_02_Benld"),
    ("Which picture shows wrinkled ice on Europa that speaks for an ocean?", "OSC_Astro_12_02_Ocean"),
    ("Show me the light curve of an eclipsing binary", "OSC_Astro_18_03_Curve"),
    ("Which illustration compares the Sun with a giant star?", "OSC_Astro_22_01_Delta"),
    ("Show me astronauts floating in free fall", "OSC_Astro_03_03_Astronaut"),
    ("Show me the comet that Rosetta went to, Churyumov-Gerasimenko", "OSC_Astro_07_01_Comet"),
    ("Which picture shows the ice ages of the northern hemisphere?", "OSC_Astro_08_03_IceAge"),
    ("Is there a map of the heights on Mercury?", "OSC_Astro_09_05_MercuryTopo"),
    ("Which diagram plots all known asteroids in the solar system?", "OSC_Astro_13_01_Belt"),
    ("Which table lists the brightest twenty stars?", "OSC_Astro_AstroTable_Brightest20_App_J"),
    ("Show me the International Space Station over the Earth", "OSC_Astro_03_00_ISS"),
    ("Which plot has the heights and weights of people?", "OSC_Astro_18_04_Plot"),
    ("Show me hot lava flowing from an eruption", "OSC_Astro_08_02_Igneous"),
    ("Is there a photo of Queloz and Mayor?", "OSC_Astro_21_04_Major"),
    ("Which chart has the sizes of planets of stars like the Sun?", "OSC_Astro_21_05_SizesCx"),
    ("Show me what Jupiter looks like in radio waves", "OSC_Astro_11_02_Radio"),
    ("Show me the Sun in ultraviolet light", "OSC_Astro_05_00_SunUVlight"),
    ("Show me a photo of a polar bear", ""),
    ("Which picture shows the Eiffel Tower?", ""),
    ("Is there a painting of Napoleon?", ""),
    ("Show me a plot of house prices", ""),
    ("Which diagram shows how a violin is built?", ""),
    ("Show me a photograph of a football match", ""),
)


async def measure(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Index the book, ask, and return the shares."""
    from ragweave.evals.images import astronomy, indexed

    book, _ = await asyncio.to_thread(astronomy, given.data, folder / "pictures")
    library = await indexed(book, "pictures")
    rows = []
    for question, gold in ASKED:
        answer = await answered(question, "pictures")
        items = await library.items([c.id for c in answer.citations])
        own = [str(items[c.id].meta.get("own", "")) if c.id in items else "" for c in answer.citations]
        right = (gold in own and not answer.abstained) if gold else answer.abstained
        half = hashlib.sha256(question.encode()).digest()[0] % 2
        rows.append((half, gold, (right, answer.abstained), own[:1] == [gold] and not answer.abstained))
        if given.show:
            print(f"{'-+'[right]} {question} {gold}\n      {answer.text[:300]} {own}")
    return {
        "questions": len(rows),
        **rates([r[2] for r in rows]),
        **rates([r[2] for r in rows if r[0]], "a "),
        **rates([r[2] for r in rows if not r[0]], "b "),
        **rates([r[2] for r in rows if not r[1]], "absent "),
        "cited first": sum(r[3] for r in rows if r[1]) / sum(bool(r[1]) for r in rows),
    }


if __name__ == "__main__":
    run(__doc__, measure, "data")
