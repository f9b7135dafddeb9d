"""Measure and limit what a run spends on chat models."""

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
    """Chat model calls. Retries of the client and replies from the cache do not count."""
    tokens: int = 0
    """Input and output together."""
    seconds: float = 0
    cost: float = 0
    """In the unit of the rates."""
    first: tuple[str, ...] = ()
    """Nodes with priority: other nodes leave them one call and half of the tokens and the cost."""


@dataclass(frozen=True)
class Spend:
    """The cost of one call or of several calls together."""

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
    """Count the spending of one run and refuse a call that would pass a limit. Safe among threads and tasks.

    Rates are the prices per million input and output tokens by model name; by default those of the settings.
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
        """Keep a note for the reader of the run; only the first note about a subject is shown."""
        with self._lock:
            self._notes.setdefault(about, note)

    def notes(self) -> list[str]:
        """Return the notes that were not returned before."""
        with self._lock:
            fresh = list(filter(None, self._notes.values()))
            self._notes = dict.fromkeys(self._notes, "")
        return fresh

    def reserve(self, node: str, tokens: int = 0, model: str = "") -> None:
        """Count a call as in flight; its estimate counts against the limits until the call is recorded.

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
                ).named("no_price_for_model", model=model)
            if reason:
                raise BudgetSpent(
                    f"{node} would pass the run's limit of {reason}", "raise the limit or ask for less"
                ).named("limit_reached", node=node, reason=reason)
            self._in_flight.append((node, tokens, cost))

    def record(self, spend: Spend) -> None:
        """Add the spending of a call and end its reservation; a cost of 0 is computed from the rates."""
        with self._lock:
            rate = self._rates.get(spend.model)
            if rate and not spend.cost and spend.calls:
                cost = (spend.input_tokens * rate[0] + spend.output_tokens * rate[1]) / 1e6
                spend = replace(spend, cost=cost)
            if spend.calls:
                self._end_oldest(spend.node)
            self._total = _sum([self._total, spend])
            self._rows.append(spend)

    def _end_oldest(self, node: str) -> None:
        """Remove the oldest reservation of a node."""
        for index, (owner, _, _) in enumerate(self._in_flight):
            if owner == node:
                del self._in_flight[index]
                return

    def take(self, node: str) -> list[Spend]:
        """Return the rows of a node since the last take, one per role and model."""
        groups: dict[tuple[str, str], list[Spend]] = {}
        others: list[Spend] = []
        with self._lock:
            for row in self._rows:
                if row.node == node:
                    groups.setdefault((row.role, row.model), []).append(row)
                else:
                    others.append(row)
            self._rows = others
        return [_sum(rows, node, role, model) for (role, model), rows in groups.items()]

    @property
    def spent(self) -> Spend:
        """Totals over all nodes."""
        with self._lock:
            return self._total

    def room(self, calls: int, tokens: int) -> bool:
        """Return whether `calls` calls with `tokens` tokens in all would stay within the limits."""
        with self._lock:
            have = self.limits.calls
            enough = have < 0 or self._total.calls + len(self._in_flight) + calls <= have
            return enough and not self._refusal(tokens, 0.0)

    @property
    def exhausted(self) -> str:
        """The limit that forbids another call, in words, or an empty string."""
        with self._lock:
            return self._refusal(0, 0.0)

    @property
    def refused(self) -> str:
        """The limit that refused a call or ended a wait, in words, or an empty string."""
        with self._lock:
            return self._refused

    def out_of_time(self) -> bool:
        """Return whether the time limit has passed, and if so remember it in `refused`."""
        with self._lock:
            late = self.seconds_left == 0
            if late:
                self._refused = self._refused or f"{self.limits.seconds:g} seconds"
            return late

    def cut_off(self, node: str) -> BudgetSpent:
        """Return the error for a call, or a wait for a call, that the time limit ended."""
        late = f"{node} was cut off by the run's limit of {self.limits.seconds:g} seconds"
        return BudgetSpent(late, "raise the limit or ask for less").named(
            "step_timeout", node=node, seconds=f"{self.limits.seconds:g}"
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
        used = total.input_tokens + total.output_tokens
        reserved_costs: list[float] = []
        for _, reserved_tokens, reserved_cost in self._in_flight:
            used += reserved_tokens
            reserved_costs.append(reserved_cost)
        paid = total.cost + sum(reserved_costs)
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
    """Return the sums of some rows."""
    return Spend(
        node,
        role,
        model,
        calls=sum([row.calls for row in rows]),
        cached=sum([row.cached for row in rows]),
        input_tokens=sum([row.input_tokens for row in rows]),
        output_tokens=sum([row.output_tokens for row in rows]),
        seconds=sum([row.seconds for row in rows]),
        cost=sum([row.cost for row in rows]),
    )
