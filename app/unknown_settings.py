"""Variables that begin as our settings do and are none."""

from __future__ import annotations

import os
from difflib import get_close_matches

from dotenv import dotenv_values

_OTHERS = frozenset({"RAGWEAVE_COPY_TO", "RAGWEAVE_DATA", "RAGWEAVE_KEY"})
"""Variables of one command, of the checks and of the examples."""
_ALIKE = 0.85


def unknown_settings() -> str:
    """Return a sentence about RAGWEAVE_ variables that have no effect, or "" if there are none."""
    from ragweave.models.settings import user_file

    given = {*os.environ, *dotenv_values(".env"), *dotenv_values(user_file())}
    ours = {name for name in given if name.startswith("RAGWEAVE_")} - _OTHERS
    known = _known() if ours else set()
    unknown = sorted(ours - known)
    if not unknown:
        return ""
    named = []
    for name in unknown:
        near = get_close_matches(name, known, 1, _ALIKE)
        named.append(f"{name} (did you mean {near[0]}?)" if near else name)
    what = "is no setting and has no effect" if len(named) == 1 else "are no settings and have no effect"
    return f"{', '.join(named)} {what}; docs/configuration.md lists the settings."


def _known() -> set[str]:
    from ragweave.components.run_settings import RunSettings
    from ragweave.corpora.settings import CorporaSettings
    from ragweave.models.settings import ModelSettings
    from ragweave.serve.settings import ServeSettings

    known: set[str] = set()
    for room in (RunSettings, CorporaSettings, ModelSettings, ServeSettings):
        prefix = str(room.model_config.get("env_prefix", ""))
        for field in room.model_fields:
            known |= {f"{prefix}{field}".upper(), f"{prefix}{field}_FILE".upper()}
    return known
