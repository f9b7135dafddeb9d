"""How the page holds large libraries and long conversations: `python -m ragweave.benchmarks.page`.

A library of small files is indexed, a conversation of many turns is written into the server's store, and Chromium
opens both. Printed are the median first paint, the time until the page can be used, how long frames take while the
sources and the conversation are scrolled from end to end and what the page computes for each, and the time to the first
checked sentence of an answer, on the page and through its API by turns.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ragweave.tests.support import ScriptedServer
from ragweave.tests.support.server import Received

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OPENINGS = 5
"""Times that the page is opened anew."""
SCROLL = """async (box) => {
  const frames = [];
  let last = performance.now();
  const step = Math.max(40, (box.scrollHeight - box.clientHeight) / 120);
  box.scrollTop = 0;
  for (let at = 0; at < box.scrollHeight; at += step) {
    box.scrollTop = at;
    await new Promise((go) => requestAnimationFrame(go));
    const now = performance.now();
    frames.push(now - last);
    last = now;
  }
  return frames;
}"""
FRAMES = 120
"""Steps from one end to the other."""
SMOOTH = 16.7
"""Milliseconds of a frame at sixty in a second."""
WHEEL = 120
"""Pixels of a turn of the wheel."""
FRAME = """async (box, top) => {
  box.scrollTop = top;
  await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
}"""
ELEMENTS = "document.getElementsByTagName('*').length"
ASKED = 20
"""Questions asked each way."""
LATENCY = 0.5
"""Seconds that the scripted model takes."""
ASK = """async (question) => {
  const field = document.getElementById("question");
  const before = document.querySelectorAll(".turn").length;
  const shown = new Promise((done) => {
    const seen = new MutationObserver(() => {
      if (!document.querySelectorAll(".turn")[before]?.querySelector(".sentence")) return;
      seen.disconnect();
      requestAnimationFrame(() => done(performance.now()));
    });
    seen.observe(document.getElementById("main"), { childList: true, subtree: true });
  });
  field.value = question;
  field.dispatchEvent(new Event("input"));
  const began = performance.now();
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
  return (await shown) - began;
}"""


async def make(folder: Path, sources: int, turns: int) -> str:
    """Index the files, write the conversation, and return its id."""
    from ragweave.app.api import aindex
    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.store.stores import close_stores, stores
    from ragweave.serve.access import Caller
    from ragweave.serve.run import new_thread
    from ragweave.serve.store import Store, add_thread, begin_turn, set_turn

    files = folder / "files"
    files.mkdir()
    for n in range(sources):
        (files / f"note-{n:05}.md").write_text(
            f"# Note {n}\n\nPump {n} was built in {1800 + n % 200} at pier {n % 37}.\n"
        )
    await aindex([files], library="default")
    row = next(r for r in stores().catalog.libraries() if r.name == "default")
    store = Store(Path(corpora_settings().home) / "serve.sqlite")
    thread = new_thread(Caller(), row, "A long conversation")
    text = "The pump was built in 1874. It stands at the pier, and was painted twice since."
    said = [{"text": part, "support": "verified", "citations": [1]} for part in text.split(". ") for _ in range(3)]
    cited = {"n": 1, "id": "x", "title": "Note 1", "quote": text, "origin": "library", "open": {"view": "none"}}
    answer = {
        "question": "", "text": text, "sentences": said, "notes": [], "abstained": False, "dropped": 0, "usage": [],
        "mode": "extractive", "citations": [{**cited, "locator": {"kind": "text", "file": "note-00001.md", "line": 3}}],
    }  # fmt: skip
    with store.writing() as db:
        add_thread(db, thread)
        for n in range(turns):
            turn = begin_turn(db, thread.id, f"run-{n}", "agent", f"What was built at pier {n}?")
            set_turn(db, thread.id, turn, "done", answer=answer, trail=[])
    close_stores()
    return thread.id


@contextmanager
def served(home: Path, **model: str) -> Iterator[str]:
    """Serve a home, and yield the address."""
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


def opened(browser: Any, address: str, ready: str) -> tuple[float, float]:
    """Return milliseconds to the first paint, and until an element is there."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    began = time.perf_counter()
    page.goto(address)
    page.locator(ready).first.wait_for()
    whole = (time.perf_counter() - began) * 1000
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN")
    page.close()
    return paint, whole


def scrolled(page: Any, box: str) -> str:
    """Return how long frames took while an element was scrolled to its end."""
    frames = sorted(page.locator(box).evaluate(SCROLL)[1:])
    slow = sum(f > 50 for f in frames)
    late = frames[int(len(frames) * 0.95)]
    return f"median {statistics.median(frames):.0f} ms, 95 % {late:.0f} ms, {slow} of {len(frames)} over 50 ms"


def worked(page: Any, box: str, step: float = 0) -> str:
    """Return what the page's thread computes for a frame while an element is scrolled, and how large the document is.

    Scrolled by so many pixels a step, or from end to end in as many steps.
    From the browser's own trace: scripts, style, layout and paint of each frame, in time of the processor and not of a
    clock, so that other work of the machine does not count.
    """
    session, events, ended = page.context.browser.new_browser_cdp_session(), [], []
    session.on("Tracing.dataCollected", lambda told: events.extend(told["value"]))
    session.on("Tracing.tracingComplete", lambda told: ended.append(told))
    session.send("Tracing.start", {"traceConfig": {"includedCategories": ["cc"]}, "transferMode": "ReportEvents"})
    step = step or page.locator(box).evaluate("box => box.scrollHeight - box.clientHeight") / FRAMES
    for n in range(FRAMES + 1):
        page.locator(box).evaluate(FRAME, n * step)
    session.send("Tracing.end")
    while not ended:
        page.wait_for_timeout(50)
    session.detach()
    took = sorted(e["tdur"] / 1000 for e in events if e["name"] == "ProxyMain::BeginMainFrame" and "tdur" in e)
    late, slow = took[int(len(took) * 0.95)], sum(t > SMOOTH for t in took)
    told = f"median {statistics.median(took):.1f} ms, 95 % {late:.1f} ms, {slow} of {len(took)} over {SMOOTH} ms"
    return f"{step:,.0f} pixels a step: {told}; {page.evaluate(ELEMENTS):,} elements"


def first_by_api(client: Any, question: str) -> float:
    """Return milliseconds to the first sentence of an answer, for a program."""
    began = time.perf_counter()
    run = client.post("/api/ask", json={"question": question}).json()["run"]
    took = 0.0
    with client.stream("GET", f"/api/runs/{run}/events") as events:
        for line in events.iter_lines():  # to the end, so that nothing of it is left over for the next one
            if line == "event: sentence" and not took:
                took = (time.perf_counter() - began) * 1000
    return took


def first_sentences(browser: Any, address: str) -> str:
    """Return the median milliseconds to the first sentence, on the page and by the API, asked by turns."""
    import httpx

    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(address)
    page.locator("#question").wait_for()
    page.wait_for_load_state("networkidle")
    rows = []
    with httpx.Client(base_url=address, timeout=120) as client:
        for n in range(ASKED):
            shown = page.evaluate(ASK, f"When was pump {n * 7} built?")
            page.locator(".turn.over").nth(n).wait_for()
            page.wait_for_load_state("networkidle")
            rows.append((shown, first_by_api(client, f"When was pump {n * 7 + 3} built?")))
    page.close()
    on_page, by_api = (statistics.median(column) for column in zip(*rows[2:], strict=True))
    return f"page {on_page:.0f} ms, API {by_api:.0f} ms, {on_page / by_api:.2f} times"


def copied(request: Received) -> str:
    """Answer with the first passage of a prompt, as a model that copies would."""
    found = re.search(r"Pump \d+ was built in \d+ at pier \d+\.", request.prompt)
    return f"{found.group() if found else 'It was built in 1874.'} [1]"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=int, default=5000)
    parser.add_argument("--turns", type=int, default=200)
    given = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        os.environ["RAGWEAVE_HOME"] = str(folder / "home")
        thread = asyncio.run(make(folder, given.sources, given.turns))
        started = sync_playwright().start()
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        with served(folder / "home") as address:
            for name, at, ready in (
                ("new conversation", "/", "#question"),
                (f"{given.turns} turns", f"/#/t/{thread}", f".turn:nth-child({given.turns}).over"),
            ):
                rows = [opened(browser, address + at, ready) for _ in range(OPENINGS)]
                paint, whole = (statistics.median(column) for column in zip(*rows, strict=True))
                print(f"{name}: first paint {paint:.0f} ms, ready {whole:.0f} ms")
            print(f"first sentence: {first_sentences(browser, address)}")
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            page.goto(f"{address}/#/t/{thread}")
            page.locator(".turn.over").nth(given.turns - 1).wait_for()
            print(f"scrolling {given.turns} turns: {scrolled(page, '#main')}")
            for step in (0, WHEEL):
                print(f"computed for a frame, {worked(page, '#main', step)}")
            fold = page.locator(".group .fold").first
            fold.wait_for()
            began = time.perf_counter()
            if fold.get_attribute("aria-expanded") == "false":
                fold.click()
            page.locator(".source-list li").first.wait_for()
            print(f"unfolding {given.sources} sources: {(time.perf_counter() - began) * 1000:.0f} ms")
            print(f"scrolling {given.sources} sources: {scrolled(page, '.source-list')}")
            for step in (0, WHEEL):
                print(f"computed for a frame, {worked(page, '.source-list', step)}")
            page.close()
        with ScriptedServer(react=copied, latency=LATENCY) as server:
            model = {"RAGWEAVE_CHAT": "scripted", "RAGWEAVE_CHAT_URL": server.base_url, "RAGWEAVE_CHAT_KEY": "k"}
            with served(folder / "home", **model) as address:
                told = first_sentences(browser, address)
                print(f"first sentence beside a model of {LATENCY} s: {told}")
        browser.close()
        started.stop()


if __name__ == "__main__":
    main()
