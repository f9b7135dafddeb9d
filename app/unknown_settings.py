"""Find misspelled settings: RAGWEAVE_ variables that no setting reads."""

from __future__ import annotations

import os
from difflib import get_close_matches

from dotenv import dotenv_values

_OTHERS = frozenset({"RAGWEAVE_COPY_TO", "RAGWEAVE_DATA", "RAGWEAVE_KEY"})
"""Variables that only one command, the tests or the examples read."""
_SIMILAR = 0.85
"""Similarity in [0, 1] from which a setting is suggested."""


def unknown_settings() -> str:
    """Return a sentence about RAGWEAVE_ variables that have no effect, or "" if there are none."""
    from ragweave.models.settings import user_file

    ours: set[str] = set()
    for name in (*os.environ, *dotenv_values(".env"), *dotenv_values(user_file())):
        if name.startswith("RAGWEAVE_") and name not in _OTHERS:
            ours.add(name)
    known = _known() if ours else set()
    unknown = sorted(ours - known)
    if not unknown:
        return ""
    named = []
    for name in unknown:
        near = get_close_matches(name, known, 1, _SIMILAR)
        named.append(f"{name} (did you mean {near[0]}?)" if near else name)
    what = "is no setting and has no effect" if len(named) == 1 else "are no settings and have no effect"
    return f"{', '.join(named)} {what}; docs/configuration.md lists the settings."


def _known() -> set[str]:
    """Return the names of all variables that settings read."""
    from ragweave.components.run_settings import RunSettings
    from ragweave.corpora.settings import CorporaSettings
    from ragweave.models.settings import ModelSettings
    from ragweave.serve.settings import ServeSettings

    known: set[str] = set()
    for settings in (RunSettings, CorporaSettings, ModelSettings, ServeSettings):
        prefix = str(settings.model_config.get("env_prefix", ""))
        for field in settings.model_fields:
            known |= {f"{prefix}{field}".upper(), f"{prefix}{field}_FILE".upper()}
    return known
