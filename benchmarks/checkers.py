"""What dishonest and weak checkers would show as right: `python benchmarks/checkers.py`.

Each checks the written answers of `evals/written_marks.json` through the product's check, ten times with
other control sentences, and sits the exam a hundred times.
"""

from __future__ import annotations

import argparse
import asyncio

from ragweave.tests.support.checker_figures import CHECKERS, figures


async def main() -> None:
    """Print a row a checker."""
    print("| checker | planted shown as right, no exam | exams passed | with both | right sentences lost |")
    print("|---|---|---|---|---|")
    for name, make in CHECKERS.items():
        found = await figures(make)
        print(f"| {name} | {found.planted:.3f} | {found.passed:.2f} | {found.shown:.3f} | {found.lost:.3f} |")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    asyncio.run(main())
