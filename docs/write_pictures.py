"""Take screenshots of the page: `python -m ragweave.docs.write_pictures FOLDER [STATE ...]`.

A headless Chromium uses a server over the example files, with a scripted model. Without names it takes the
pictures of the docs; `all` takes every state at three widths in both colour schemes, for a visual check. The
fonts differ between machines, so that no test compares the pictures.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ragweave.tests.support.server import Received, ScriptedServer

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "chromium-headless-shell"))), None
)
EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "library"
DECIDED, LIT = (
    "What did the council decide on 12 March 2024?",
    "When was the lamp of the lighthouse first lit?",
)
TALL = "How tall is the lighthouse, and when was its lamp first lit?"
WRITTEN = (
    "The tower is 31 metres tall and has 148 steps [1]. ",
    "The lamp was first lit on 3 October 1874 [1].",
)
SUMMARY = (
    "These are notes, minutes and a guided walk of the invented island Skerry Holm. They tell of its"
    " lighthouse, its ferry, its birds, its electricity and what its council decided. You can learn what"
    " things cost, when they were built and how the island lives."
)
ASKED = (
    (
        "Why did the puffins leave Skerry Holm?",
        "Puffins were lost from the island in 1958, when rats came ashore",
    ),
    (
        "What does the new concrete pier cost, and who pays it?",
        "The work costs 2.6 million crowns and is paid half by",
    ),
    (
        "How long can the battery carry the island?",
        "A battery of 4.2 megawatt hours beside the fish hall carries",
    ),
    ("When was the ferry Marten built?", "She was built in 1961 by the Ravnholt shipyard"),
)
SIZES = ((1280, 860), (820, 1000), (390, 844))


def written(request: Received) -> Any:
    """Return the reply of the scripted model to a prompt."""
    if "curious newcomer" in request.prompt:
        passages = re.findall(r"(?ms)^(\d+)\.\n<<<\n(.*?)\n>>>", request.prompt)
        rows: list[dict[str, object]] = []
        for question, answer in ASKED:
            for n, text in passages:
                if answer in " ".join(text.split()):
                    rows.append({"passage": int(n), "question": question, "answer": answer})
        return json.dumps({"summary": SUMMARY, "questions": rows})
    if "You check sentences" in request.prompt:
        return json.dumps({"verdicts": []})
    return ["Final Answer: ", *WRITTEN]


def ask(page: Any, question: str, over: bool = True) -> Any:
    """Ask a question, wait until the answer is complete if `over`, and return the turn."""
    turns = page.locator(".turn")
    before = turns.count()
    page.fill("#question", question)
    page.keyboard.press("Enter")
    if over:
        page.locator(".turn.over").nth(before).wait_for(timeout=120_000)
        page.wait_for_load_state("networkidle")
    return turns.nth(before)


def _front(page: Any) -> None:
    introduce = page.get_by_role("button", name="introduce this library")
    if introduce.count():
        introduce.click()
    page.locator(".about").wait_for()


def _pdf(page: Any) -> None:
    ask(page, DECIDED).locator(".cite").first.click()
    page.locator(".sheet .box").first.wait_for()


def _passage(page: Any) -> None:
    ask(page, LIT).locator(".cite").first.click()
    page.locator("#panel mark").wait_for()


def _steps(page: Any) -> None:
    ask(page, LIT).locator(".trail summary").click()


def _found(page: Any) -> None:
    ask(page, TALL, over=False).get_by_role("region", name="Found so far").wait_for()


def _dialog(name: str) -> Callable[[Any], None]:
    return lambda page: page.get_by_role("button", name=name, exact=name != "Web off").first.click()


LLM = {"mode": "llm"}
STATES: dict[str, tuple[Callable[[Any], Any], dict[str, str]]] = {
    "front": (_front, LLM),
    "found": (_found, LLM),
    "answer": (lambda page: ask(page, TALL), LLM),
    "quotes": (lambda page: ask(page, DECIDED), {}),
    "pdf": (_pdf, {}),
    "passage": (_passage, {}),
    "steps": (_steps, {}),
    "refusal": (lambda page: ask(page, "Qwrtzpf xkcdvb?"), {}),
    "settings": (_dialog("Web off"), {}),
    "add": (_dialog("Add"), {}),
}
"""The function that brings the page into a state, and the settings of its run."""
IN_DOCS: dict[str, dict[str, Any]] = {
    "front": {},
    "answer": {},
    "pdf": {},
    "steps": {"color_scheme": "dark"},
}


def take(browser: Any, address: str, name: str, path: Path, **options: Any) -> None:
    """Take the screenshot of a state."""
    show, settings = STATES[name]
    usual = {"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce"}
    context = browser.new_context(**{**usual, **options})
    context.add_init_script(f"localStorage.setItem('ragweave.settings', '{json.dumps(settings)}')")
    page = context.new_page()
    page.goto(address)
    page.locator(".front li").first.wait_for()
    show(page)
    page.wait_for_timeout(500)
    from PIL import Image

    with Image.open(io.BytesIO(page.screenshot())) as taken:
        # With a palette the file has a third of the size.
        taken.convert("RGB").quantize(128).save(path, optimize=True)
    context.close()


@contextmanager
def served(home: Path, **model: str) -> Iterator[str]:
    """Serve a home, and yield the URL of the server."""
    command = [sys.executable, "-m", "ragweave.app.cli", "serve", "--port", "0", "--log", "none"]
    env = {**os.environ, "RAGWEAVE_HOME": str(home), "PYTHONUNBUFFERED": "1", **model}
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"http://[\d.]+:\d+", process.stdout.readline())
        assert found, "the server did not start"
        yield found.group()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(20)


def main() -> None:
    """Take the screenshots."""
    folder, *wanted = sys.argv[1:]
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as home, ScriptedServer(react=written, latency=5) as model:
        os.environ["RAGWEAVE_HOME"] = home
        subprocess.run([sys.executable, "-m", "ragweave.app.cli", "index", str(EXAMPLES)], check=True)
        chat = {"CHAT": "a-model", "CHAT_URL": model.base_url, "CHAT_KEY": "none", "MODE": "extractive"}
        env = {f"RAGWEAVE_{key}": value for key, value in chat.items()} | {"RAGWEAVE_CHAT_CACHE": "false"}
        with served(Path(home), **env) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            if wanted == ["all"]:
                for name in STATES:
                    for width, height in SIZES:
                        for scheme in ("light", "dark"):
                            size = {"width": width, "height": height}
                            path = Path(folder) / f"{name}-{width}-{scheme}.png"
                            take(browser, address, name, path, viewport=size, color_scheme=scheme)
            else:
                for name in wanted or IN_DOCS:
                    take(browser, address, name, Path(folder) / f"page-{name}.png", **IN_DOCS.get(name, {}))
            browser.close()


if __name__ == "__main__":
    main()
