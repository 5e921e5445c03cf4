# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class RecommendationMix(Record):
    rank: int
    gpu: str
    gpus: int
    provider: str
    instance: str
    instances: int
    region: str
    purchase: str
    precision: str
    stack: str
    micro_batch: int
    tp: int
    ep: int
    attention_dp: int
    pp: int
    zero: int
    replicas: int
    requests_at_once: float
    requests_per_second: float
    slo_percentile: int
    ttft_seconds: float
    tpot_seconds: float
    mean_latency_seconds: float
    utilization: float
    busy_share: float
    max_sequences: int
    token_budget: int
    output_tokens_per_second: float
    tokens_per_second: float
    hours: float
    work_seconds: float
    startup_seconds: float
    checkpoint_seconds: float
    rework_seconds: float
    usd_per_hour: float
    usd_total: float
    usd_per_million_tokens: float
    memory_bytes: float
    memory_low_bytes: float
    memory_high_bytes: float
    capacity_bytes: float
    bound: str
    basis: str
    time_factor: RecommendationInterval
    low: float
    high: float
    list_usd_per_machine_hour: float
    price_age_days: float
    why: list[str]
    price_source: str
    price_date: str
    share: float


@dataclasses.dataclass(frozen=True)
class Assumptions(Record):
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
    isl: int | None = None
    osl: int | None = None
    isl_p95: float | None = None
    osl_p95: float | None = None
    checkpoint_every_seconds: float | None = None


@dataclasses.dataclass(frozen=True)
class RecommendationBreakpoint(Record):
    when: str
    then: str


@dataclasses.dataclass(frozen=True)
class Change(Record):
    what: str
    flags: str
    effect: str
    plan: Plan


@dataclasses.dataclass(frozen=True)
class Rejection(Record):
    what: str
    gpu: str
    stage: str
    need: str
    have: str
    count: int
    nearest_fix: str | None


@dataclasses.dataclass(frozen=True)
class RecommendationStartup(Record):
    machine_seconds: float
    image: str
    image_bytes: float
    image_seconds: float
    weights_bytes: float
    weights_seconds: float


@dataclasses.dataclass(frozen=True)
class RecommendationCommittedSpend(Record):
    account: str
    provider: str
    drawn_usd: float
    left_usd: float
    until: str


@dataclasses.dataclass(frozen=True)
class RecommendationInterval(Record):
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class RecommendationMachinesByHour(Record):
    hour: int
    requests_per_second: float
    instances: int
    replicas: int


@dataclasses.dataclass(frozen=True)
class RecommendationCommitment(Record):
    term: str
    total_usd: float
    usd_per_machine_hour: float
    region: str
    break_even_utilization: float


@dataclasses.dataclass(frozen=True)
class RecommendationQuota(Record):
    name: str
    code: str
    amount: int
    unit: str


@dataclasses.dataclass(frozen=True)
class RecommendationSpot(Record):
    low: float
    likely: float
    median: float
    high: float
    region: str
    zone: str
    age_days: float


@dataclasses.dataclass(frozen=True)
class Plan(Record):
    rank: int
    gpu: str
    gpus: int
    provider: str
    instance: str
    instances: int
    region: str
    purchase: str
    precision: str
    stack: str
    micro_batch: int
    tp: int
    ep: int
    pp: int
    zero: int
    tokens_per_second: float
    hours: float
    work_seconds: float
    startup_seconds: float
    checkpoint_seconds: float
    rework_seconds: float
    usd_per_hour: float
    usd_total: float
    usd_per_million_tokens: float
    low: float
    high: float
    list_usd_per_machine_hour: float
    why: list[str]
    price_source: str
    price_date: str
    replicas: int | None = None
    requests_at_once: float | None = None
    requests_per_second: float | None = None
    slo_percentile: int | None = None
    ttft_seconds: float | None = None
    mean_latency_seconds: float | None = None
    utilization: float | None = None
    busy_share: float | None = None
    output_tokens_per_second: float | None = None
    memory_bytes: float | None = None
    memory_high_bytes: float | None = None
    capacity_bytes: float | None = None
    bound: str | None = None
    basis: str | None = None
    price_age_days: float | None = None
    spot: RecommendationSpot | None = None
    quota: RecommendationQuota | None = None
    method: str | None = None
    accumulation: int | None = None
    recompute: str | None = None
    mfu: float | None = None
    tpot_seconds: float | None = None
    max_sequences: int | None = None
    token_budget: int | None = None
    commitment: RecommendationCommitment | None = None
    commitments: list[RecommendationCommitment] | None = None
    machines_by_hour: list[RecommendationMachinesByHour] | None = None
    scaled_usd_total: float | None = None
    attention_dp: int | None = None
    memory_low_bytes: float | None = None
    time_factor: RecommendationInterval | None = None
    disaggregated: str | None = None
    new_money_usd: float | None = None
    committed_spend: list[RecommendationCommittedSpend] | None = None
    startup: RecommendationStartup | None = None
    checkpoint_interval_seconds: float | None = None
    held_back: str | None = None
    samples_per_second: float | None = None


@dataclasses.dataclass(frozen=True, repr=False)
class Recommendation(Result):
    """What 'rightsize recommend' answers."""
    schema: str
    name: str | None = None
    what: str | None = None
    objective: str | None = None
    plans: list[Plan] | None = None
    pareto: list[Plan] | None = None
    rejected: list[Rejection] | None = None
    changes: list[Change] | None = None
    breakpoints: list[RecommendationBreakpoint] | None = None
    confidence: float | None = None
    warnings: list[str] | None = None
    caveats: list[str] | None = None
    feasible: int | None = None
    assumptions: Assumptions | None = None
    considered: int | None = None
    seconds: float | None = None
    request: dict[str, str] | None = None
    catalogue: str | None = None
    next_best: str | None = None
    terms: list[str] | None = None
    workloads: list[Recommendation] | None = None
    emit: dict[str, str] | None = None
    mix: list[RecommendationMix] | None = None


Plan._fields_of = {'spot': RecommendationSpot, 'quota': RecommendationQuota, 'commitment': RecommendationCommitment, 'commitments': RecommendationCommitment, 'machines_by_hour': RecommendationMachinesByHour, 'time_factor': RecommendationInterval, 'committed_spend': RecommendationCommittedSpend, 'startup': RecommendationStartup}
Recommendation._fields_of = {'plans': Plan, 'pareto': Plan, 'rejected': Rejection, 'changes': Change, 'breakpoints': RecommendationBreakpoint, 'assumptions': Assumptions, 'workloads': Recommendation, 'mix': RecommendationMix}
Change._fields_of = {'plan': Plan}
RecommendationMix._fields_of = {'time_factor': RecommendationInterval}
Recommendation._rows = 'plans'
