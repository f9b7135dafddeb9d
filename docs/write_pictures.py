"""Takes the pictures of the pages in docs in a headless Chromium: `python -m ragweave.docs.write_pictures FOLDER`.

A server over the example files is used as a reader would; what a name in `PICTURES` shows is told by its function.
Only those named after FOLDER are taken, where any are. They are drawn by the fonts of the machine, so that no test
compares them.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ragweave.benchmarks.page import CHROMIUM, served

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "library"
DECIDED, LIT = "What did the council decide on 12 March 2024?", "When was the lamp of the lighthouse first lit?"


def ask(page: Any, question: str) -> Any:
    """Ask, wait for the end of the turn, and return it."""
    turns = page.locator(".turn")
    before = turns.count()
    page.fill("#question", question)
    page.keyboard.press("Enter")
    page.locator(".turn.over").nth(before).wait_for(timeout=120_000)
    page.wait_for_load_state("networkidle")
    return turns.nth(before)


def _pdf(page: Any) -> None:
    ask(page, DECIDED).locator(".cite").first.click()
    page.locator(".sheet .box").first.wait_for()


def _steps(page: Any) -> None:
    ask(page, LIT).locator(".trail summary").click()


PICTURES: dict[str, tuple[Callable[[Any], None], dict[str, Any]]] = {
    "pdf": (_pdf, {}),
    "steps": (_steps, {"color_scheme": "dark"}),
}


def main() -> None:
    """Take the pictures."""
    folder, *wanted = sys.argv[1:]
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as home:
        os.environ["RAGWEAVE_HOME"] = home
        subprocess.run([sys.executable, "-m", "ragweave.app.cli", "index", str(EXAMPLES)], check=True)
        with served(Path(home)) as address, sync_playwright() as playwright:
            installed = CHROMIUM or shutil.which("chromium-headless-shell")
            browser = playwright.chromium.launch(executable_path=installed, args=["--no-sandbox"])
            for name in wanted or PICTURES:
                show, options = PICTURES[name]
                usual = {"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce"}
                page = browser.new_context(**{**usual, **options}).new_page()
                page.goto(address)
                page.locator("#question").wait_for()
                show(page)
                page.wait_for_timeout(500)
                with Image.open(io.BytesIO(page.screenshot())) as taken:
                    # A palette makes a third of the bytes.
                    taken.convert("RGB").quantize(128).save(Path(folder) / f"page-{name}.png", optimize=True)
                page.context.close()
            browser.close()


if __name__ == "__main__":
    main()
