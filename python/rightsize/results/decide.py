# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class DecidePercentiles(Record):
    mean: float
    p50: float
    p90: float
    p95: float
    p99: float


@dataclasses.dataclass(frozen=True)
class DecideSlo(Record):
    metric: str
    slo_percentile: str
    limit_ms: float
    value_ms: float
    half_width_ms: float


@dataclasses.dataclass(frozen=True)
class DecideMove(Record):
    gpu: str
    owner: str
    instance: str
    to: str


@dataclasses.dataclass(frozen=True)
class DecideQuota(Record):
    name: str
    code: str
    amount: int
    unit: str


@dataclasses.dataclass(frozen=True)
class DecideSpot(Record):
    low: float
    likely: float
    median: float
    high: float
    region: str
    zone: str
    age_days: float


@dataclasses.dataclass(frozen=True)
class DecideInterval(Record):
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class DecideAssumptions(Record):
    global_batch: int
    startup_seconds: float
    restart_seconds: float
    spot_interruptions_per_machine_hour: float
    failures_per_gpu_hour: float
    checkpoint_bytes_per_second: float
    max_gpus: int
    slo_percentile: int | None = None
    max_load: float | None = None
    allow_single: bool | None = None


@dataclasses.dataclass(frozen=True)
class DecidePlan(Record):
    schema: str | None = None
    name: str | None = None
    what: str | None = None
    objective: str | None = None
    assumptions: DecideAssumptions | None = None
    caveats: list[str] | None = None
    warnings: list[Any] | None = None
    confidence: float | None = None
    rank: int | None = None
    gpu: str | None = None
    gpus: list[str] | int | None = None
    provider: str | None = None
    instance: str | None = None
    instances: int | None = None
    region: str | None = None
    purchase: str | None = None
    precision: str | None = None
    stack: str | None = None
    micro_batch: int | None = None
    tp: int | None = None
    ep: int | None = None
    pp: int | None = None
    zero: int | None = None
    replicas: int | None = None
    requests_at_once: float | None = None
    requests_per_second: float | None = None
    slo_percentile: str | int | None = None
    ttft_seconds: float | None = None
    tpot_seconds: float | None = None
    mean_latency_seconds: float | None = None
    utilization: float | None = None
    busy_share: float | None = None
    max_sequences: int | None = None
    token_budget: int | None = None
    output_tokens_per_second: float | None = None
    tokens_per_second: float | None = None
    hours: float | None = None
    work_seconds: float | None = None
    startup_seconds: float | None = None
    checkpoint_seconds: float | None = None
    rework_seconds: float | None = None
    usd_per_hour: float | None = None
    usd_total: float | None = None
    usd_per_million_tokens: float | None = None
    memory_bytes: float | None = None
    memory_low_bytes: float | None = None
    memory_high_bytes: float | None = None
    capacity_bytes: float | None = None
    bound: str | None = None
    basis: str | None = None
    time_factor: DecideInterval | None = None
    low: float | None = None
    high: float | None = None
    list_usd_per_machine_hour: float | None = None
    price_age_days: float | None = None
    spot: DecideSpot | None = None
    quota: DecideQuota | None = None
    why: list[str] | None = None
    price_source: str | None = None
    price_date: str | None = None
    method: str | None = None
    accumulation: int | None = None
    recompute: str | None = None
    mfu: float | None = None
    kind: str | None = None
    to: str | None = None
    saving_usd_per_month: float | None = None
    owner: str | None = None
    risk: str | None = None
    forecast: None = None
    check: str | None = None
    commands: list[str] | None = None
    manifest: None = None
    rollback: str | None = None
    moves: list[DecideMove] | None = None
    instead_of: list[Any] | None = None
    max_batch: int | None = None
    max_delay_ms: float | None = None
    usd_per_month: float | None = None
    metric: str | None = None
    value_ms: float | None = None
    half_width_ms: float | None = None
    slos: list[DecideSlo] | None = None
    latency_ms: DecidePercentiles | None = None
    mean_batch: float | None = None
    load: float | None = None
    rejected_share: float | None = None
    plan: DecidePlan | None = None


@dataclasses.dataclass(frozen=True)
class DecidePrediction(Record):
    metric: str
    low: float | None
    likely: float
    high: float | None
    limit: float | None


@dataclasses.dataclass(frozen=True)
class DecideSavingIntervalUsd(Record):
    low: float | None
    likely: float
    high: float | None


@dataclasses.dataclass(frozen=True)
class DecideCostIntervalUsd(Record):
    low: float | None
    likely: float
    high: float | None


@dataclasses.dataclass(frozen=True)
class DecideDecision(Record):
    id: str
    workload: str
    team: str | None
    by: str | None
    decided_at: str
    status: str
    ended_at: None
    choice: str
    gpu: str | None
    gpus: int | None
    provider: str | None
    instance: str | None
    instances: int | None
    region: str | None
    purchase: str | None
    per: str
    cost_usd: float | None
    before_usd: float | None
    saving_usd: float | None
    why: str | None
    what: str
    command: str
    catalogue: str
    program: str
    superseded_by: None
    cost_interval_usd: DecideCostIntervalUsd | None
    saving_interval_usd: DecideSavingIntervalUsd | None
    predictions: list[DecidePrediction]
    request: dict[str, str]
    plan: DecidePlan
    rollback: str | None = None


@dataclasses.dataclass(frozen=True, repr=False)
class Decide(Result):
    """What 'rightsize decide' answers."""
    schema: str
    ledger: str | None
    decision: DecideDecision


DecideDecision._fields_of = {'cost_interval_usd': DecideCostIntervalUsd, 'saving_interval_usd': DecideSavingIntervalUsd, 'predictions': DecidePrediction, 'plan': DecidePlan}
DecidePlan._fields_of = {'assumptions': DecideAssumptions, 'time_factor': DecideInterval, 'spot': DecideSpot, 'quota': DecideQuota, 'moves': DecideMove, 'slos': DecideSlo, 'latency_ms': DecidePercentiles, 'plan': DecidePlan}
Decide._fields_of = {'decision': DecideDecision}
