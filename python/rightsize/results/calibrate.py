# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class CalibratePoint(Record):
    line: int
    model: str
    metric: str
    measured_seconds: float
    before_seconds: float
    after_seconds: float


@dataclasses.dataclass(frozen=True)
class CalibrateFit(Record):
    stack: str
    job: str
    gpu: str
    device: float
    host: float
    prefill: float
    width: float
    error_before: float
    error_after: float
    points: list[CalibratePoint]


@dataclasses.dataclass(frozen=True, repr=False)
class Calibrate(Result):
    """What 'rightsize calibrate' answers."""
    schema: str
    fits: list[CalibrateFit]
    written: str | None = None


CalibrateFit._fields_of = {'points': CalibratePoint}
Calibrate._fields_of = {'fits': CalibrateFit}
