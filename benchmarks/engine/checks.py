"""Checks: what the figures must show, what was measured, and whether it is enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

OK, SHORT, NOT_MEASURED = "ok", "SHORT", "not measured"

ROUNDING = 1e-9
"""Differences up to this are rounding errors."""


@dataclass(frozen=True)
class Check:
    """A requirement, what was measured, and the status: `ok`, `SHORT` or `not measured`."""

    check: str
    measured: str
    status: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def check(requirement: str, passed: bool | None, measured: str = "") -> Check:
    """Return a check; `passed` is None if it was not measured."""
    return Check(requirement, measured, NOT_MEASURED if passed is None else OK if passed else SHORT)


def check_at_least(requirement: str, value: float | None, least: float, measured: str = "") -> Check:
    """Check that a value is at least `least`; `measured` is by default the value."""
    if value is None:
        return check(requirement, None)
    return check(requirement, value >= least - ROUNDING, measured or f"{value:.4f}")


def check_at_most(requirement: str, value: float | None, most: float, measured: str = "") -> Check:
    """Check that a value is at most `most`; `measured` is by default the value."""
    if value is None:
        return check(requirement, None)
    return check(requirement, value <= most + ROUNDING, measured or f"{value:.4f}")


def check_above(requirement: str, value: float | None, other: float | None) -> Check:
    """Check that a value is larger than another one."""
    if value is None or other is None:
        return check(requirement, None)
    return check(requirement, value > other + ROUNDING, f"{value:.4f} against {other:.4f}")


def check_below(requirement: str, value: float | None, other: float | None) -> Check:
    """Check that a value is smaller than another one."""
    if value is None or other is None:
        return check(requirement, None)
    return check(requirement, value < other - ROUNDING, f"{value:.4f} against {other:.4f}")


def check_margins(
    requirement: str,
    margins: Mapping[str, float | None],
    *,
    least: float = 0.0,
    strict: bool = False,
    unit: str = "",
    missing: bool = False,
) -> Check:
    """
    Check that every margin is at least `least`. One that is not makes the check fall short.

    Parameters
    ----------
    requirement
        What must hold.
    margins
        By data set or method; None where it was not measured. Only a check of which all margins are known
        can be ok.
    least
        The least margin.
    strict
        Whether a margin must be larger than `least`.
    unit
        Unit of the margins.
    missing
        Whether some margins that belong to the check are not in `margins`.
    """
    known = {name: margin for name, margin in margins.items() if margin is not None}
    limit = least + (ROUNDING if strict else -ROUNDING)
    short = sorted((margin, name) for name, margin in known.items() if margin < limit)
    if short:
        parts = [f"{name} by {least - margin:.4f}{unit}" for margin, name in short]
        return check(requirement, False, f"short: {', '.join(parts)}")
    if not known:
        return check(requirement, None)
    narrowest = min(known, key=known.__getitem__)
    measured = f"narrowest: {narrowest}, {known[narrowest]:.4f}{unit}"
    if missing or len(known) < len(margins):
        return check(requirement, None, f"holds for the {len(known)} measured; {measured}")
    return check(requirement, True, measured)


def with_note(checks: list[Check], note: str) -> list[Check]:
    """Add a note, such as "2 seeds", to what was measured."""
    return [replace(one, measured=f"{one.measured} ({note})") if one.measured else one for one in checks]


def difference(value: float | None, other: float | None) -> float | None:
    """Return `value` − `other`; None if either was not measured."""
    return None if value is None or other is None else value - other
