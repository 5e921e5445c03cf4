# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class ServiceSurer(Record):
    what: str
    text: str


@dataclasses.dataclass(frozen=True)
class ServiceSavingUsdPerMonth(Record):
    low: float
    likely: float
    high: float


@dataclasses.dataclass(frozen=True)
class ServicePlan(Record):
    rank: int
    change: str
    gpu: str
    gpus: int
    replicas: int
    tp: int
    precision: str
    ttft_seconds: float
    tpot_seconds: float
    utilization: float
    max_sequences: int
    max_batched_tokens: int
    usd_per_month: float
    low: float
    high: float
    price_source: str
    saving_usd_per_month: ServiceSavingUsdPerMonth
    provider: str | None = None
    instance: str | None = None
    instances: int | None = None
    region: str | None = None
    purchase: str | None = None


@dataclasses.dataclass(frozen=True)
class ServiceCorrected(Record):
    tpot_seconds: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class ServicePrior(Record):
    tpot_seconds: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class ServiceCalibration(Record):
    prior: ServicePrior
    corrected: ServiceCorrected
    prior_tpot_seconds: float
    measured_tpot_seconds: float
    corrected_tpot_seconds: float
    factor: float
    device: float
    host: float
    prefill: float
    rows: int


@dataclasses.dataclass(frozen=True)
class ServiceSlo(Record):
    quantity: str
    at: str
    limit_seconds: float
    over_share: float
    over_share_low: float
    over_share_high: float
    kept: bool
    sure: bool


@dataclasses.dataclass(frozen=True)
class ServiceKvUse(Record):
    mean: float
    p95: float
    max: float


@dataclasses.dataclass(frozen=True)
class ServiceWaiting(Record):
    mean: float
    p95: float
    max: float


@dataclasses.dataclass(frozen=True)
class ServiceRunning(Record):
    mean: float
    p95: float
    max: float


@dataclasses.dataclass(frozen=True)
class ServiceLatencySeconds(Record):
    mean: float
    p50: float
    p95: float
    p99: float
    p95_bucket: ServiceInterval


@dataclasses.dataclass(frozen=True)
class ServiceTpotSeconds(Record):
    mean: float
    p50: float
    p95: float
    p99: float
    p95_bucket: ServiceInterval


@dataclasses.dataclass(frozen=True)
class ServiceTtftSeconds(Record):
    mean: float
    p50: float
    p95: float
    p99: float
    p95_bucket: ServiceInterval


@dataclasses.dataclass(frozen=True)
class ServiceOsl(Record):
    mean: float | None
    p50: float | None
    p95: float | None
    p95_bucket: ServiceInterval | None = None


@dataclasses.dataclass(frozen=True)
class ServiceInterval(Record):
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class ServiceIsl(Record):
    mean: float | None
    p50: float | None
    p95: float | None
    p95_bucket: ServiceInterval | None = None


@dataclasses.dataclass(frozen=True)
class ServiceRequestsPerSecond(Record):
    mean: float
    peak_hour: float
    peak_hour_begin: float
    burst: float
    by_hour_utc: list[float]


@dataclasses.dataclass(frozen=True)
class ServiceService(Record):
    name: str
    namespace: str
    workload: str
    engine: str
    model: str
    replicas: int
    replicas_range: list[int]
    gpus: int
    gpu: str
    gpus_per_replica: float
    gpu_hours: float
    restarts: int
    requests_per_second: ServiceRequestsPerSecond
    isl: ServiceIsl
    osl: ServiceOsl
    prefix_hit: float | None
    ttft_seconds: ServiceTtftSeconds
    tpot_seconds: ServiceTpotSeconds
    latency_seconds: ServiceLatencySeconds
    preemptions: None
    running: ServiceRunning | None
    waiting: ServiceWaiting | None
    kv_use: ServiceKvUse | None
    slo_kept: bool | None
    slo: list[ServiceSlo]
    usd_per_month: float
    usd_per_million_output_tokens: float | None
    price_source: str
    headroom: float | None
    calibration: ServiceCalibration | None
    plans: list[ServicePlan]
    notes: list[str]
    first_change: None = None
    best: int | None = None
    unexplained: str | None = None
    surer: list[ServiceSurer] | None = None


@dataclasses.dataclass(frozen=True)
class ServiceWhatIf(Record):
    traffic: float
    longer_prompts: float
    longer_answers: float


@dataclasses.dataclass(frozen=True, repr=False)
class Service(Result):
    """What 'rightsize service' answers."""
    schema: str
    until: float
    slo_percentile: str
    what_if: ServiceWhatIf
    services: list[ServiceService]
    notes: list[str]


Service._fields_of = {'what_if': ServiceWhatIf, 'services': ServiceService}
ServiceService._fields_of = {'requests_per_second': ServiceRequestsPerSecond, 'isl': ServiceIsl, 'osl': ServiceOsl, 'ttft_seconds': ServiceTtftSeconds, 'tpot_seconds': ServiceTpotSeconds, 'latency_seconds': ServiceLatencySeconds, 'running': ServiceRunning, 'waiting': ServiceWaiting, 'kv_use': ServiceKvUse, 'slo': ServiceSlo, 'calibration': ServiceCalibration, 'plans': ServicePlan, 'surer': ServiceSurer}
ServiceIsl._fields_of = {'p95_bucket': ServiceInterval}
ServiceOsl._fields_of = {'p95_bucket': ServiceInterval}
ServiceTtftSeconds._fields_of = {'p95_bucket': ServiceInterval}
ServiceTpotSeconds._fields_of = {'p95_bucket': ServiceInterval}
ServiceLatencySeconds._fields_of = {'p95_bucket': ServiceInterval}
ServiceCalibration._fields_of = {'prior': ServicePrior, 'corrected': ServiceCorrected}
ServicePlan._fields_of = {'saving_usd_per_month': ServiceSavingUsdPerMonth}
Service._rows = 'services'
