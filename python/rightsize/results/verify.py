# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class VerifyPoint(Record):
    line: int
    model: str
    metric: str
    measured_seconds: float
    before_seconds: float
    after_seconds: float


@dataclasses.dataclass(frozen=True)
class VerifyFit(Record):
    stack: str
    job: str
    gpu: str
    device: float
    host: float
    prefill: float
    width: float
    error_before: float
    error_after: float
    points: list[VerifyPoint]


@dataclasses.dataclass(frozen=True)
class VerifyCalibration(Record):
    schema: str
    fits: list[VerifyFit]
    decisions: list[str]


@dataclasses.dataclass(frozen=True)
class VerifyMetric(Record):
    low: float | None
    likely: float
    high: float | None


@dataclasses.dataclass(frozen=True)
class VerifyVerification(Record):
    id: str
    workload: str
    verdict: str
    alpha: float
    test: str
    metrics: list[dict[str, VerifyMetric]]
    per: str
    measured_usd: float
    cost_method: str
    before_usd: float
    saved_usd: float
    predicted_saving_usd: float


@dataclasses.dataclass(frozen=True, repr=False)
class Verify(Result):
    """What 'rightsize verify' answers."""
    schema: str
    verification: VerifyVerification
    samples_added: int
    calibration: VerifyCalibration | None = None


Verify._fields_of = {'verification': VerifyVerification, 'calibration': VerifyCalibration}
VerifyFit._fields_of = {'points': VerifyPoint}
VerifyCalibration._fields_of = {'fits': VerifyFit}
VerifyVerification._maps_of = {'metrics': VerifyMetric}
