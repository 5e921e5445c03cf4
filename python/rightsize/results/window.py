# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class WindowSchedule(Record):
    closes: str
    starts: str
    ends: str
    items: float
    gpus: int


@dataclasses.dataclass(frozen=True)
class WindowOption(Record):
    name: str
    gpus: int
    gpu_hours_per_month: float
    usd_per_gpu_hour: float
    price_source: str
    usd_per_month: float
    latency_seconds: float
    utilization: float


@dataclasses.dataclass(frozen=True, repr=False)
class Window(Result):
    """What 'rightsize window' answers."""
    schema: str
    gpus: int | None
    items_per_day: float | None = None
    gpu: str | None = None
    batch: int | None = None
    item_seconds: float | None = None
    items_per_window: float | None = None
    busy_seconds: float | None = None
    options: list[WindowOption] | None = None
    schedule: list[WindowSchedule] | None = None


Window._fields_of = {'options': WindowOption, 'schedule': WindowSchedule}
