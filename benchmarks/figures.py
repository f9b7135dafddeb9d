r"""Figures of the documentation, printed again by the commands that made them.

    python benchmarks/figures.py [DOC ...]           compare; exits with 1 where a page says something else
    python benchmarks/figures.py --write [DOC ...]   write what the commands print now into the pages

A block of a page is checked where a comment above it names its command:

    <!-- figures: python benchmarks/against_plain_rag.py report -->
    ```
    (what the command prints)
    ```

A command runs in the root of the checkout, with this Python; public data is looked for where RAGWEAVE_DATA
says.
"""

from __future__ import annotations

import argparse
import difflib
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- figures: (?P<command>[^\n]+?) -->\n+```\w*\n)(?P<said>.*?)(?=^```$)", re.S | re.M)


def printed(command: str) -> str:
    """Return what a command prints.

    Raises:
        SystemExit: it failed.
    """
    words = shlex.split(command)
    done = subprocess.run(
        [sys.executable if words[0] == "python" else words[0], *words[1:]],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"{command}\nended with {done.returncode}:\n{done.stderr[-2_000:]}")
    return "\n".join(map(str.rstrip, done.stdout.strip().splitlines())) + "\n"


def main() -> int:
    """Check or write every page that is named, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("docs", nargs="*", type=Path, default=sorted((ROOT / "docs").glob("*.md")))
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    differ = 0
    for page in given.docs:
        text = page.read_text(encoding="utf-8")
        new = text
        for block in BLOCK.finditer(text):
            said, now = block["said"], printed(block["command"])
            new = new.replace(block.group(), block[1] + now)
            print(f"{'same' if said == now else 'differs':8} {page.name}: {block['command']}")
            if said != now:
                differ += 1
                print(
                    *difflib.unified_diff(said.splitlines(), now.splitlines(), "page", "now", lineterm=""),
                    sep="\n",
                )
        if given.write and new != text:
            page.write_text(new, encoding="utf-8")
    return int(differ > 0 and not given.write)


if __name__ == "__main__":
    sys.exit(main())
