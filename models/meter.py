"""What a run may spend on chat models, and what it has spent."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ragweave.models.errors import BudgetSpent
from ragweave.models.settings import model_settings


@dataclass(frozen=True)
class Limits:
    """Limits of one run; 0 means no limit, except for `calls`, where -1 means no limit."""

    calls: int = 0
    """Chat model calls, each once however often its client tries it; replies from the cache do not count."""
    tokens: int = 0
    """In and out."""
    seconds: float = 0
    cost: float = 0
    """In the unit of the rates."""
    first: tuple[str, ...] = ()
    """Nodes that come first: the others leave them one call, and half of the tokens and of the money."""


@dataclass(frozen=True)
class Spend:
    """What one call, or several together, cost."""

    node: str
    role: str
    model: str
    calls: int
    cached: int
    input_tokens: int
    output_tokens: int
    seconds: float
    cost: float


class Meter:
    """Counts the spending of one run and refuses the call that would pass a limit.

    Safe among threads and tasks.

    Rates are the price per million input and output tokens by model name; the settings' when not given.
    """

    def __init__(
        self, limits: Limits = Limits(calls=-1), rates: Mapping[str, tuple[float, float]] | None = None
    ) -> None:
        self.limits = limits
        self._rates = dict(model_settings().rate_table() if rates is None else rates)
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._total = Spend("", "", "", 0, 0, 0, 0, 0.0, 0.0)
        self._rows: list[Spend] = []
        self._in_flight: list[tuple[str, int, float]] = []
        self._refused = ""
        self._notes: dict[str, str] = {}

    def tell(self, about: str, note: str) -> None:
        """Keep what a reader of the run should know; the first note about a thing counts, and is told once."""
        with self._lock:
            self._notes.setdefault(about, note)

    def notes(self) -> list[str]:
        """Return the notes that were not returned before."""
        with self._lock:
            fresh = [note for note in self._notes.values() if note]
            self._notes = dict.fromkeys(self._notes, "")
        return fresh

    def reserve(self, node: str, tokens: int = 0, model: str = "") -> None:
        """Count a call as in flight: the estimate of its prompt counts against the limits until it is recorded.

        With a cost limit the model must have a rate.

        Raises:
            BudgetSpent: if the call would pass a limit; names the limit.
        """
        with self._lock:
            rate = self._rates.get(model)
            cost = tokens * rate[0] / 1e6 if rate else 0.0
            reason = self._refusal(tokens, cost)
            self._refused = self._refused or reason
            if not reason and self.limits.first and node not in self.limits.first:
                reason = self._refusal(tokens, cost, spare=True)
            if not reason and self.limits.cost and model and rate is None:
                raise BudgetSpent(
                    f"the cost limit cannot be kept because {model} has no price",
                    "name its price in RAGWEAVE_RATES",
                ).named("cost_limit_cannot_kept", model=model)
            if reason:
                raise BudgetSpent(
                    f"{node} would pass the run's limit of {reason}", "raise the limit or ask for less"
                ).named("limit_reached", node=node, reason=reason)
            self._in_flight.append((node, tokens, cost))

    def record(self, spend: Spend) -> None:
        """Add what a call cost and end its reservation; a cost of 0 is worked out from the rates."""
        with self._lock:
            rate = self._rates.get(spend.model)
            if rate and not spend.cost and spend.calls:
                spend = replace(
                    spend, cost=(spend.input_tokens * rate[0] + spend.output_tokens * rate[1]) / 1e6
                )
            if spend.calls:
                mine = (i for i, (owner, _, _) in enumerate(self._in_flight) if owner == spend.node)
                if (oldest := next(mine, None)) is not None:
                    del self._in_flight[oldest]
            self._total = _sum([self._total, spend])
            self._rows.append(spend)

    def take(self, node: str) -> list[Spend]:
        """Return the rows of a node since the last take, one per role and model."""
        with self._lock:
            mine = [row for row in self._rows if row.node == node]
            self._rows = [row for row in self._rows if row.node != node]
        kinds = dict.fromkeys((row.role, row.model) for row in mine)
        return [_sum([r for r in mine if (r.role, r.model) == k], node, *k) for k in kinds]

    @property
    def spent(self) -> Spend:
        """Totals over all nodes."""
        with self._lock:
            return self._total

    def room(self, calls: int, tokens: int) -> bool:
        """Tell whether so many calls with so many tokens in all would keep to the limits."""
        with self._lock:
            have = self.limits.calls
            enough = have < 0 or self._total.calls + len(self._in_flight) + calls <= have
            return enough and not self._refusal(tokens, 0.0)

    @property
    def exhausted(self) -> str:
        """The limit that leaves no room for another call, in words, or an empty string."""
        with self._lock:
            return self._refusal(0, 0.0)

    @property
    def refused(self) -> str:
        """The limit that refused a call or ended a wait, in words, or an empty string while nothing was held back."""
        with self._lock:
            return self._refused

    def out_of_time(self) -> bool:
        """Tell whether the time limit has passed, and remember that work was held back for it."""
        with self._lock:
            if late := self.seconds_left == 0:
                self._refused = self._refused or f"{self.limits.seconds:g} seconds"
            return late

    def cut_off(self, node: str) -> BudgetSpent:
        """Return the error of a call, or of the wait for one, that the time limit ended."""
        told = f"{node} was cut off by the run's limit of {self.limits.seconds:g} seconds"
        return BudgetSpent(told, "raise the limit or ask for less").named(
            "cut_off_by_run", node=node, seconds=f"{self.limits.seconds:g}"
        )

    @property
    def elapsed(self) -> float:
        """Seconds since the meter was made."""
        return time.monotonic() - self._started

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the time limit, never negative; None without one."""
        if not self.limits.seconds:
            return None
        return max(0.0, self._started + self.limits.seconds - time.monotonic())

    def _refusal(self, tokens: int, cost: float, spare: bool = False) -> str:
        limits, total = self.limits, self._total
        if spare:
            limits = replace(
                limits, calls=max(limits.calls - 1, -1), tokens=limits.tokens // 2, cost=limits.cost / 2
            )
        used = total.input_tokens + total.output_tokens + sum(t for _, t, _ in self._in_flight)
        paid = total.cost + sum(c for _, _, c in self._in_flight)
        if limits.calls >= 0 and total.calls + len(self._in_flight) >= limits.calls:
            return f"{limits.calls} model calls"
        if limits.tokens and used + max(tokens, 1) > limits.tokens:
            return f"{limits.tokens} tokens"
        if limits.seconds and self.seconds_left == 0:
            return f"{limits.seconds:g} seconds"
        if limits.cost and (paid >= limits.cost or paid + cost > limits.cost):
            return f"a cost of {limits.cost:g}"
        return ""


def _sum(rows: Sequence[Spend], node: str = "", role: str = "", model: str = "") -> Spend:
    counted = ("calls", "cached", "input_tokens", "output_tokens", "seconds", "cost")
    return Spend(node, role, model, *(sum(getattr(r, name) for r in rows) for name in counted))
