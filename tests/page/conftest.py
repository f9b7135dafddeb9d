"""One server and one Chromium for all tests of the page; every test gets a browser window of its own."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ragweave.tests.support.server import Received, ScriptedServer

# The shell draws no window around the page, which takes a quarter of the processor.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
HERE = Path(__file__).resolve().parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder, and skip them where there is no browser."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.page)
            if CHROMIUM is None:
                item.add_marker(
                    pytest.mark.skip(reason="no chromium on this machine (Debian: apt install chromium)")
                )


@dataclass
class Script:
    """What the language model says next."""

    answer: list[str] = field(default_factory=lambda: ["UNKNOWN"])
    questions: str = ""

    def __call__(self, request: Received) -> Any:
        """Answer a request by what it asks for."""
        if "curious newcomer" in request.prompt:
            return self.questions
        if "numbered evidence" in request.prompt:
            return self.answer
        return "Learnt: enough.\nFinal Answer: " + "".join(self.answer)


@dataclass(frozen=True)
class Site:
    """The server under test."""

    url: str
    home: Path
    script: Script
    model: ScriptedServer

    @contextmanager
    def slowly(self, *parts: str, pause: float) -> Iterator[None]:
        """Have the model answer in these parts, with a pause of seconds between them meanwhile."""
        self.script.answer, self.model.part_delay = list(parts), pause
        try:
            yield
        finally:
            self.model.part_delay = 0.0


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A real server on a free port, over a home that was made for it."""
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("files")
    web = folder / "web"
    web.mkdir()
    (web / "kraken.md").write_text(
        "---\ntitle: Kraken\nurl: https://sea.example/kraken\n---\nThe kraken of Bergen weighs 900 tonnes.\n"
    )
    script = Script()
    with ScriptedServer(react=script) as model:
        env = {k: v for k, v in os.environ.items() if not k.startswith("RAGWEAVE_")} | {
            "RAGWEAVE_HOME": str(home),
            "RAGWEAVE_CHAT": "scripted",
            "RAGWEAVE_CHATS": "understudy",
            "RAGWEAVE_CHAT_URL": model.base_url,
            "RAGWEAVE_CHAT_KEY": "none",
            "RAGWEAVE_CHAT_CACHE": "false",
            "RAGWEAVE_KNOBS": "mode=extractive",
            "RAGWEAVE_WEB_FOLDER": str(web),
            "PYTHONUNBUFFERED": "1",
        }
        subprocess.run(
            [sys.executable, str(HERE / "stage.py"), str(home), str(folder / "made")], env=env, check=True
        )
        with serving(env, folder) as url:
            yield Site(url, home, script, model)


@contextmanager
def serving(env: dict[str, str], folder: Path) -> Iterator[str]:
    """Run a server on a free port while the block lasts; yields its address."""
    command = [sys.executable, "-m", "ragweave.app.cli", "serve", "--port", "0", "--log", "none"]
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True, cwd=folder)
    try:
        assert process.stdout is not None
        found = re.search(r"http://[\d.]+:\d+", process.stdout.readline())
        assert found, "the server did not start"
        yield found.group()
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(60)  # a loaded machine takes its time
        finally:
            process.kill()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    sync_api.expect.set_options(timeout=30_000)  # a loaded machine takes its time
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--mute-audio"])
        yield started
        started.close()


@pytest.fixture
def window(browser: Any, site: Site) -> Iterator[Callable[..., Any]]:
    """Open windows that share nothing; an error of a script, and any request to another host, fails the test."""
    contexts: list[Any] = []
    wrong: list[str] = []

    def open_window(
        path: str = "/", keep: dict[str, str] | None = None, strict: bool = True, **options: Any
    ) -> Any:
        context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 800}, "service_workers": "block", **options}
        )
        contexts.append(context)
        context.set_default_timeout(30_000)
        for key, value in (keep or {}).items():
            context.add_init_script(f"localStorage.setItem('ragweave.{key}', '{value}')")
        page = context.new_page()
        if strict:
            context.on("request", lambda request: _only_here(request.url, site.url, wrong))
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.on("console", lambda told: wrong.append(told.text) if _is_wrong(told) else None)
        page.goto(site.url + path)
        page.wait_for_selector("#question")
        return page

    yield open_window
    for context in contexts:
        context.close()
    assert not wrong


def _only_here(url: str, base: str, wrong: list[str]) -> None:
    if not url.startswith((base, "blob:", "data:")):
        wrong.append(f"a request to {url}")


def _is_wrong(told: Any) -> bool:
    # A refused request is written to the console by the browser itself; the page shows it in words.
    return told.type == "error" and "Failed to load resource" not in told.text


@pytest.fixture
def new_library() -> Callable[[Any, str], None]:
    """Make a library in a window, whose list of libraries stays open."""

    from playwright.sync_api import expect

    def made(page: Any, name: str) -> None:
        page.locator("button.library").click()
        page.get_by_role("button", name="New library").click()
        page.get_by_label("Name of the library").fill(name)
        page.get_by_role("button", name="Create").click()
        expect(page.locator("button.library .name")).to_have_text(name)

    return made


@pytest.fixture
def ask() -> Callable[..., Any]:
    """Ask in a window, wait for the end of the turn, and return it."""

    from playwright.sync_api import expect

    def asked(page: Any, question: str, wait: bool = True) -> Any:
        turns = page.locator(".turn")
        before = turns.count()
        page.fill("#question", question)
        page.keyboard.press("Enter")
        turn = turns.nth(before)
        turn.wait_for()
        if wait:
            expect(page.locator(".turn.over")).to_have_count(before + 1, timeout=60_000)
        return turn

    return asked
