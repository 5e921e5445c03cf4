# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class DecisionsStage(Record):
    stage: str
    state: str
    by: str
    how: str


@dataclasses.dataclass(frozen=True)
class DecisionsQuota(Record):
    name: str
    code: str
    amount: int
    unit: str


@dataclasses.dataclass(frozen=True)
class DecisionsSpot(Record):
    low: float
    likely: float
    median: float
    high: float
    region: str
    zone: str
    age_days: float


@dataclasses.dataclass(frozen=True)
class DecisionsInterval(Record):
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class DecisionsAssumptions(Record):
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
class DecisionsPlan(Record):
    schema: str | None = None
    name: str | None = None
    what: str | None = None
    objective: str | None = None
    assumptions: DecisionsAssumptions | None = None
    caveats: list[str] | None = None
    warnings: list[Any] | None = None
    confidence: float | None = None
    rank: int | None = None
    gpu: str | None = None
    gpus: int | None = None
    provider: str | None = None
    instance: str | None = None
    instances: int | None = None
    region: str | None = None
    purchase: str | None = None
    method: str | None = None
    precision: str | None = None
    stack: str | None = None
    micro_batch: int | None = None
    accumulation: int | None = None
    recompute: str | None = None
    tp: int | None = None
    ep: int | None = None
    pp: int | None = None
    zero: int | None = None
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
    mfu: float | None = None
    basis: str | None = None
    time_factor: DecisionsInterval | None = None
    low: float | None = None
    high: float | None = None
    list_usd_per_machine_hour: float | None = None
    price_age_days: float | None = None
    spot: DecisionsSpot | None = None
    quota: DecisionsQuota | None = None
    why: list[str] | None = None
    price_source: str | None = None
    price_date: str | None = None
    replicas: int | None = None
    requests_at_once: float | None = None
    requests_per_second: float | None = None
    slo_percentile: int | None = None
    ttft_seconds: float | None = None
    tpot_seconds: float | None = None
    mean_latency_seconds: float | None = None
    utilization: float | None = None
    busy_share: float | None = None
    max_sequences: int | None = None
    token_budget: int | None = None
    output_tokens_per_second: float | None = None
    plan: DecisionsPlan | None = None


@dataclasses.dataclass(frozen=True)
class DecisionsPrediction(Record):
    metric: str
    low: float | None
    likely: float
    high: float | None
    limit: float | None


@dataclasses.dataclass(frozen=True)
class DecisionsSavingIntervalUsd(Record):
    low: float
    likely: float
    high: float


@dataclasses.dataclass(frozen=True)
class DecisionsCostIntervalUsd(Record):
    low: float
    likely: float
    high: float


@dataclasses.dataclass(frozen=True)
class DecisionsDecision(Record):
    id: str
    workload: str
    team: str
    by: str
    decided_at: str
    status: str
    ended_at: None
    choice: str
    gpu: str
    gpus: int
    provider: str
    instance: str
    instances: int
    region: str
    purchase: str
    per: str
    cost_usd: float
    before_usd: float
    saving_usd: float
    why: str | None = None
    what: str | None = None
    command: str | None = None
    catalogue: str | None = None
    program: str | None = None
    superseded_by: None = None
    cost_interval_usd: DecisionsCostIntervalUsd | None = None
    saving_interval_usd: DecisionsSavingIntervalUsd | None = None
    predictions: list[DecisionsPrediction] | None = None
    request: dict[str, str] | None = None
    plan: DecisionsPlan | None = None
    rollback: str | None = None
    stages: list[DecisionsStage] | None = None
    verdict: str | None = None
    saved_usd: float | None = None


@dataclasses.dataclass(frozen=True, repr=False)
class Decisions(Result):
    """What 'rightsize decisions' answers."""
    schema: str
    decisions: list[DecisionsDecision]
    total: float | None = None


DecisionsDecision._fields_of = {'cost_interval_usd': DecisionsCostIntervalUsd, 'saving_interval_usd': DecisionsSavingIntervalUsd, 'predictions': DecisionsPrediction, 'plan': DecisionsPlan, 'stages': DecisionsStage}
DecisionsPlan._fields_of = {'assumptions': DecisionsAssumptions, 'time_factor': DecisionsInterval, 'spot': DecisionsSpot, 'quota': DecisionsQuota, 'plan': DecisionsPlan}
Decisions._fields_of = {'decisions': DecisionsDecision}
