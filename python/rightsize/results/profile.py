# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class ProfileArticle(Record):
    says: str
    agrees: bool
    why: str


@dataclasses.dataclass(frozen=True)
class ProfileProjection(Record):
    gpu: str
    speed: float
    low: float
    high: float
    busy: float
    basis: str
    fits: bool
    usd_per_gpu_hour: float | None
    provider: str | None
    instance: str | None
    price_source: str | None
    cost_ratio: float | None


@dataclasses.dataclass(frozen=True)
class ProfilePhase(Record):
    phase: str
    begin_seconds: float
    end_seconds: float
    activity: float


@dataclasses.dataclass(frozen=True)
class ProfileRoofline(Record):
    achieved_flops_per_second: float | None
    bytes_per_second: float | None
    intensity_flops_per_byte: float | None
    ridge_flops_per_byte: float | None
    of_limit: float | None


@dataclasses.dataclass(frozen=True)
class ProfileAction(Record):
    kind: str
    text: str


@dataclasses.dataclass(frozen=True)
class ProfileSpread(Record):
    mean: float
    p50: float
    p95: float
    max: float


@dataclasses.dataclass(frozen=True)
class ProfileGpu(Record):
    index: float
    uuid: str
    name: str
    host: str
    mig_id: str
    gpu: str | None
    seconds: float
    samples: int
    interval_seconds: float
    metrics: dict[str, ProfileSpread]
    verdict: str
    confidence: float
    evidence: list[str]
    actions: list[ProfileAction]
    surer: list[str]
    wasted: float
    wasted_why: str
    shares: dict[str, float]
    roofline: ProfileRoofline
    joules: float | None
    power_capped: float | None
    thermally_capped: float | None
    phases: list[ProfilePhase]
    steady_metrics: dict[str, ProfileSpread]
    projections: list[ProfileProjection]
    article: ProfileArticle | None = None


@dataclasses.dataclass(frozen=True)
class ProfileSource(Record):
    name: str
    format: str
    lines: int
    refused: int


@dataclasses.dataclass(frozen=True, repr=False)
class Profile(Result):
    """What 'rightsize profile' answers."""
    schema: str
    source: ProfileSource
    gpus: list[ProfileGpu]


Profile._fields_of = {'source': ProfileSource, 'gpus': ProfileGpu}
ProfileGpu._fields_of = {'actions': ProfileAction, 'roofline': ProfileRoofline, 'phases': ProfilePhase, 'projections': ProfileProjection, 'article': ProfileArticle}
ProfileGpu._maps_of = {'metrics': ProfileSpread, 'steady_metrics': ProfileSpread}
Profile._rows = 'gpus'
