"""`python -m ragweave` is the command `ragweave`."""

from __future__ import annotations

import sys

from ragweave.app.cli import main

if __name__ == "__main__":
    sys.exit(main())
