"""Dates and languages as documents state them, in one form."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_YEAR_MONTH = re.compile(r"(\d{4})(?:-(\d{1,2}))?$")
_PDF = re.compile(r"D?:?(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?=$|[-_])", re.I)


def iso_date(value: object) -> datetime | None:
    """Read an ISO 8601 date or time, a bare year or a year and month; None for anything else, and for no real date.

    Times without a zone are taken as UTC.
    """
    text = str(value or "").strip().strip("\"'")
    bare = _YEAR_MONTH.fullmatch(text)
    try:
        if bare:
            return _plausible(datetime(int(bare[1]), int(bare[2] or 1), 1, tzinfo=UTC))
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return _plausible(found if found.tzinfo else found.replace(tzinfo=UTC))


def pdf_date(value: str) -> datetime | None:
    """Read the date of a PDF, `D:YYYYMMDDHHmmSS` with any tail left out (ISO 32000-1, section 7.9.4)."""
    m = _PDF.match(value.strip())
    if m is None:
        return None
    year, month, day, hour, minute, second = (int(g) if g else None for g in m.groups())
    try:
        return _plausible(
            datetime(year or 0, month or 1, day or 1, hour or 0, minute or 0, min(second or 0, 59), tzinfo=UTC)
        )
    except ValueError:
        return None


def language_code(value: object) -> str:
    """Return the ISO 639-1 code of a language tag such as `de-AT`, or ""."""
    m = _LANGUAGE.match(str(value or "").strip())
    return m[0].lower() if m and len(m[0]) == 2 else ""


def _plausible(found: datetime) -> datetime | None:
    """Drop the placeholders that writers put for an unknown date, such as year 1."""
    return found if 1000 <= found.year <= 9000 else None
