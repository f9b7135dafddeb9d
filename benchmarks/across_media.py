"""Questions over two media: `python benchmarks/across_media.py [--work FOLDER] [--show]`.

A library of notes, mails, drawn figures, drawn invoices, four films of slides (`decks.py`) and a recorded talk as
subtitles, all of it made here, is asked 40 questions that need, or may need, two of them; all were written before the
first was asked.
Right: the answer holds the value, or nothing is answered where there is none; wrong: it was answered, and does not.
`both cited`: of questions over two files, the share of which both are cited.
With ACROSS_CHAT=FILE they are asked of the chat model that RAGWEAVE_CHAT names instead of quotes, looking at no
frames, and what came of each is written to FILE; ACROSS_KEPT=FILE prints the table of such a file again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import decks
from printed import answered, is_right, rates, run

CHAT, KEPT = (os.environ.get(name, "") for name in ("ACROSS_CHAT", "ACROSS_KEPT"))
NOTES = """# Garden notebook

## The hive

I built the hive after the course. Its parts are drawn in the figure.

![Section of the hive with brood box, super and entrance](hive.png "Figure 1. The parts of my hive")

The smoker came from Hollis Supplies; their invoice is in the folder. The brush was a present of Petra Lind.

## Winter

I fed the colony on 21 September, nine days before the last day that the course allows.
The colony of the school garden died of foulbrood in spring.

## The telescope

For the lens I used crown glass. The path of the light is drawn below.

![Rays through a thin lens meet at the focal point](lens.png "Figure 2. Rays through a lens")

## Sundays

The clock museum lets the guides of the bicycle shop's Sunday tour in for free.
"""
MAILS = {
    "mail_hollis": """From: orders@hollis.example
Subject: Your order HS-2041

Thank you for your order of one smoker and one veil. The total is 64.50 euros, the invoice HS-2041 follows.
""",
    "mail_quayside": """From: accounts@quayside.example
Subject: Invoice QG-77

The total of invoice QG-77 for the glass is 118.00 euros. Please pay by 12 March 2026.
""",
    "mail_fenwick": """From: iris@spoke.example
Subject: Goals

We rented out the first cargo bike today, so the second goal on my slide is done. The mechanic starts in December.
""",
    "mail_museum": """From: guides@clocks.example
Subject: Change

The code word for the alarm is no longer the one on the slide. From May on it is Escapement.
""",
}
INVOICES = {
    "invoice_hollis": ("Hollis Supplies", "9 Orchard Lane, Merrow", "Invoice HS-2041", "3 February 2026",
                       (("Smoker", "39.00"), ("Veil", "25.50")), "64.50"),
    "invoice_quayside": ("Quayside Glass", "2 Dock Road, Lowmouth", "Invoice QG-77", "20 February 2026",
                         (("Crown glass", "90.00"), ("Grinding", "38.00")), "128.00"),
    "receipt_spoke": ("Spoke and Chain", "Mill Lane 4, Merrow", "Receipt 5512", "7 April 2026",
                      (("Inner tube", "7.90"), ("Brake pads", "14.20")), "22.10"),
}  # fmt: skip
FIGURES = {
    "hive": ("Roof", "Super", "Queen excluder", "Brood box", "Entrance"),
    "lens": ("Object", "Thin lens", "Focal point", "Image"),
}
TALK = (
    "Welcome to the garden hour, my guest today is Jon Aldous.",
    "I work with bicycles all week, and at the weekend I keep bees.",
    "The figure in your notebook is wrong in one place, the queen excluder belongs under the super.",
    "My colony got fifteen kilos of winter feed, as the course says.",
    "I lost one colony to varroa mites, never to nosema.",
    "On Mondays, when the museum of clocks is closed, I repair its tower clock.",
    "For the telescope I paid one hundred and twenty eight euros at Quayside Glass.",
    "The next garden hour is on the ninth of June.",
)
ASKED: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("text to picture", "Which figure in the notebook shows the parts of the hive?", ("hive",), ("hive",)),
    ("text to picture", "Show me the drawing of the rays that the notebook speaks of", ("lens",), ("lens",)),
    ("text to picture", "Which part of the hive is drawn right above the brood box?", ("queen excluder",), ("hive",)),
    ("text to picture", "Is there a picture of the focal point?", ("lens",), ("lens",)),
    ("text to picture", "What stands at the top of the figure of the hive?", ("roof",), ("hive",)),
    ("text to picture", "Show me a figure of the telescope's tripod", (), ()),
    ("picture to talk", "What does the guest say is wrong with the figure of the hive?", ("queen excluder",),
     ("garden_hour",)),
    ("picture to talk", "Who says that the queen excluder belongs under the super?", ("jon aldous",),
     ("garden_hour",)),
    ("picture to talk", "What did the guest pay at the company on the invoice QG-77?", ("128", "twenty eight"),
     ("garden_hour", "invoice_quayside")),
    ("slide to talk", "How much winter feed did the guest of the garden hour give, and what does the slide say?",
     ("15 kg",), ("garden_hour", "beekeeping")),
    ("slide to talk", "Which of the diseases on the slide killed a colony of the guest?", ("varroa",),
     ("garden_hour", "beekeeping")),
    ("slide to talk", "Which role has the guest of the garden hour at the bicycle shop?", ("workshop",),
     ("garden_hour", "bicycle_shop_review")),
    ("slide to talk", "What does the guest do on the day on which the museum is closed?", ("tower clock",),
     ("garden_hour", "museum_onboarding")),
    ("slide to talk", "When is the next garden hour?", ("ninth of june",), ("garden_hour",)),
    ("slide and speech", "What does the slide show while she says that honey of unknown origin carries disease?",
     ("15 kg", "3 : 2"), ("beekeeping",)),
    ("slide and speech", "What is said while the slide \"Diseases\" is shown?", ("veterinary",), ("beekeeping",)),
    ("slide and speech", "What is on the slide while he says that the ray bends towards the normal?", ("1.52",),
     ("optics",)),
    ("slide and speech", "What is said while the slide \"Agenda\" is shown?", ("four things",), ("optics",)),
    ("slide and speech", "Which slide is shown when the lecturer speaks of coloured fringes?", ("aberrations",),
     ("optics",)),
    ("slide and speech", "What is said while the slide \"Queens\" is shown?", (), ()),
    ("text to slide", "Is 21 September before the last day for winter feed on the slide?", ("30 september",),
     ("notebook", "beekeeping")),
    ("text to slide", "What is n of the glass that was used for the lens?", ("1.52",), ("notebook", "optics")),
    ("text to slide", "What does the slide say that must be done about the disease of the school garden's colony?",
     ("foulbrood",), ("notebook", "beekeeping")),
    ("text to slide", "Which post at the bicycle shop has the person who gave the brush?", ("sales",),
     ("notebook", "bicycle_shop_review")),
    ("text to slide", "Which goal for winter is done according to the mail?", ("cargo bike",),
     ("mail_fenwick", "bicycle_shop_review")),
    ("text to slide", "When does the mechanic start that the slide wants to hire?", ("december",),
     ("mail_fenwick", "bicycle_shop_review")),
    ("text to slide", "What was the code word for the alarm on the slide?", ("pendulum",), ("museum_onboarding",)),
    ("text to slide", "What is the code word for the alarm from May on?", ("escapement",), ("mail_museum",)),
    ("text to slide", "What is the code word for the alarm in room 5?", ("pendulum", "escapement"),
     ("museum_onboarding", "mail_museum")),
    ("paper to mail", "Does the total of the invoice of Hollis Supplies match the mail?", ("64.50",),
     ("invoice_hollis", "mail_hollis")),
    ("paper to mail", "Does the total of the invoice of Quayside Glass match the mail?", ("128.00",),
     ("invoice_quayside", "mail_quayside")),
    ("paper to mail", "What is the total of invoice QG-77 as printed on the invoice?", ("128.00",),
     ("invoice_quayside",)),
    ("paper to mail", "By when must invoice QG-77 be paid?", ("12 march",), ("mail_quayside",)),
    ("paper to mail", "What did the smoker of the notebook cost?", ("39.00",), ("notebook", "invoice_hollis")),
    ("paper to mail", "What is the address of the company that the smoker came from?", ("orchard lane",),
     ("notebook", "invoice_hollis")),
    ("paper to mail", "Which goods are on the invoice that belongs to the mail about order HS-2041?", ("veil",),
     ("mail_hollis", "invoice_hollis")),
    ("paper to slide", "In which lane is the shop of the third quarter review, on its receipt and on its slide?",
     ("mill lane",), ("receipt_spoke", "bicycle_shop_review")),
    ("paper to slide", "What did the brake pads at Spoke and Chain cost?", ("14.20",), ("receipt_spoke",)),
    ("paper to slide", "What was the date of the receipt of the shop whose manager is Iris Fenwick?", ("7 april",),
     ("receipt_spoke", "bicycle_shop_review")),
    ("paper to slide", "What did the cargo bike on the receipt cost?", (), ()),
)  # fmt: skip


def write(folder: Path) -> None:
    """Write the files."""
    from PIL import Image, ImageDraw, ImageFont
    from video_lectures import subtitles

    decks.draw(folder)
    (folder / "notebook.md").write_text(NOTES, encoding="utf-8")
    for name, text in MAILS.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    subtitles([(20 * n, 20 * n + 18, said) for n, said in enumerate(TALK)], folder / "garden_hour.vtt")
    for name, (firm, street, number, day, goods, total) in INVOICES.items():
        rows = [firm, street, "", number, f"Date: {day}", "", *goods, "", ("Total", total)]
        image = Image.new("RGB", (700, 90 + 46 * len(rows)), "white")
        pen = ImageDraw.Draw(image)
        for n, row in enumerate(rows):
            font = ImageFont.truetype(decks.BOLD if n in (0, len(rows) - 1) else decks.FONT, 26)
            left, right = row if isinstance(row, tuple) else (row, "")
            pen.text((60, 50 + 46 * n), left, fill="black", font=font)
            pen.text((620, 50 + 46 * n), right, fill="black", font=font, anchor="ra")
        image.save(folder / f"{name}.png")
    for name, parts in FIGURES.items():
        image = Image.new("RGB", (640, 90 * len(parts) + 40), "white")
        pen = ImageDraw.Draw(image)
        for n, part in enumerate(parts):
            pen.rectangle((120, 20 + 90 * n, 520, 100 + 90 * n), outline="black", width=3)
            pen.text((320, 60 + 90 * n), part, fill="black", font=ImageFont.truetype(decks.FONT, 32), anchor="mm")
        image.save(folder / f"{name}.png")


async def measure(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Index the library, ask, and return the shares."""
    from ragweave.corpora.ingest.run import index
    from ragweave.corpora.store.library import open_library

    if KEPT:
        kept = await asyncio.to_thread(Path(KEPT).read_text, encoding="utf-8")
        return figures([json.loads(line) for line in kept.splitlines()])
    if not (folder / "media").exists():
        await asyncio.to_thread(write, folder / "media")
    await index([folder / "media"], "media")
    library = await open_library("media")
    rows: list[dict[str, Any]] = []
    for kind, question, gold, files in ASKED:
        answer = await answered(question, "media", bool(CHAT))
        items = await library.items([c.id for c in answer.citations])
        cited = {Path(c.locator.get("file", "")).stem for c in answer.citations}
        cited |= {str(i.meta.get("own", "")) for i in items.values()}
        right = is_right(answer, gold, cited if files == gold else ())
        row = {"kind": kind, "question": question, "answer": answer.text, "right": right, "abstained": answer.abstained}
        rows.append({**row, "both": {*files} <= cited and not answer.abstained if len(files) == 2 else None})
        if given.show:
            print(f"{'-+'[right]}{'-+'[answer.abstained]} {question} {gold}\n      {sorted(cited)}")
            print(f"      {answer.text[:300]}")
    if CHAT:
        lines = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows)
        await asyncio.to_thread(Path(CHAT).write_text, lines, encoding="utf-8")
    return figures(rows)


def figures(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the shares, and those that are right by kind."""
    both = [r["both"] for r in rows if r["both"] is not None]
    by: dict[str, list[bool]] = defaultdict(list)
    for r in rows:
        by[r["kind"]].append(r["right"])
    kinds = {f"{kind} ({len(of)})": sum(of) / len(of) for kind, of in by.items()}
    shares = rates([(r["right"], r["abstained"]) for r in rows])
    return {"questions": len(rows), **shares, "both cited": sum(both) / len(both), **kinds}


if __name__ == "__main__":
    os.environ["RAGWEAVE_ASR"] = "off"
    run(__doc__, measure)
