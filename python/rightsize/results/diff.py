# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class DiffFit(Record):
    model: str
    fits: bool
    words: str


@dataclasses.dataclass(frozen=True)
class DiffAfter(Record):
    resource: str
    gpu: str | None
    machines: list[str]
    mig_profile: str | None
    per_unit: int | None
    units: int | None
    most_units: int | None
    gpus: float | None
    spot: bool
    usd_per_hour: float | None
    usd_per_month: float | None
    most_usd_per_month: float | None
    usd_per_run: float | None
    price_source: str
    unresolved: list[str]
    doubts: list[str]
    misfits: list[Any]


@dataclasses.dataclass(frozen=True)
class DiffBefore(Record):
    resource: str
    gpu: str
    machines: list[str]
    mig_profile: None
    per_unit: int | None
    units: int
    most_units: None
    gpus: int
    spot: bool
    usd_per_hour: float
    usd_per_month: float
    most_usd_per_month: None
    usd_per_run: float | None
    price_source: str
    unresolved: list[Any]
    doubts: list[str]
    misfits: list[Any]


@dataclasses.dataclass(frozen=True)
class DiffChange(Record):
    file: str
    line: int
    kind: str
    name: str
    part: str | None
    change: str
    usd_per_month_change: float | None
    before: DiffBefore | None
    after: DiffAfter
    fit: DiffFit | None


@dataclasses.dataclass(frozen=True)
class DiffUsdPerMonth(Record):
    before: float
    after: float
    change: float


@dataclasses.dataclass(frozen=True, repr=False)
class Diff(Result):
    """What 'rightsize diff' answers."""
    schema: str
    usd_per_month: DiffUsdPerMonth
    requests: int
    unpriced: int
    misfits: int
    jobs_counted_all_month: bool
    fail_over_usd_per_month: float | None
    passed: bool
    changes: list[DiffChange]
    notes: list[Any]


Diff._fields_of = {'usd_per_month': DiffUsdPerMonth, 'changes': DiffChange}
DiffChange._fields_of = {'before': DiffBefore, 'after': DiffAfter, 'fit': DiffFit}
