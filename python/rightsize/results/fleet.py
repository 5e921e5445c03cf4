# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class FleetWithoutAction(Record):
    owner: str
    gpus: int
    waste_usd_per_month: float
    verdict: str
    next: str


@dataclasses.dataclass(frozen=True)
class FleetTimeline(Record):
    id: str
    start: str
    step_seconds: float
    activity: list[float | None]
    idle: list[float | None]
    verdict_seconds: float
    verdicts: list[str | None]


@dataclasses.dataclass(frozen=True)
class FleetLabel(Record):
    name: str
    gpus: int
    gpu_hours: float
    idle_gpu_hours: float
    spend_usd: float
    waste_usd: float


@dataclasses.dataclass(frozen=True)
class FleetState(Record):
    name: str
    jobs: int
    gpu_hours: float
    spend_usd: float
    idle_gpu_hours: float | None
    unsuccessful_gpu_hours: float


@dataclasses.dataclass(frozen=True)
class FleetPartition(Record):
    name: str
    jobs: int
    gpu_hours: float
    spend_usd: float
    idle_gpu_hours: float | None
    unsuccessful_gpu_hours: float


@dataclasses.dataclass(frozen=True)
class FleetAccount(Record):
    name: str
    jobs: int
    gpu_hours: float
    spend_usd: float
    idle_gpu_hours: float | None
    unsuccessful_gpu_hours: float


@dataclasses.dataclass(frozen=True)
class FleetUser(Record):
    name: str
    jobs: int
    gpu_hours: float
    spend_usd: float
    idle_gpu_hours: float | None
    unsuccessful_gpu_hours: float


@dataclasses.dataclass(frozen=True)
class FleetExample(Record):
    job: str
    user: str
    name: str
    gpu_hours: float


@dataclasses.dataclass(frozen=True)
class FleetIssue(Record):
    issue: str
    why: str
    jobs: int
    gpu_hours: float
    spend_usd: float
    examples: list[FleetExample]


@dataclasses.dataclass(frozen=True)
class FleetJobs(Record):
    count: int
    priced: int
    measured: int
    without_gpu: int
    never_started: int
    gpu_hours: float
    spend_usd: float
    issues: list[FleetIssue]


@dataclasses.dataclass(frozen=True)
class FleetMetricsFound(Record):
    gpu_util: str | None = None
    memory_used_bytes: str | None = None
    power_watts: str | None = None
    graphics_active: str | None = None
    tensor_active: str | None = None
    dram_active: str | None = None


@dataclasses.dataclass(frozen=True)
class FleetMean(Record):
    gpu_util: float | None = None
    memory_used_bytes: float | None = None
    power_watts: float | None = None
    graphics_active: float | None = None
    tensor_active: float | None = None
    dram_active: float | None = None


@dataclasses.dataclass(frozen=True)
class FleetGpu(Record):
    id: str
    host: str
    index: float
    name: str
    model: str
    mig_profile: str | None
    owner: str
    owners: list[FleetOwner]
    verdict: str
    confidence: float
    evidence: list[str]
    seconds: float
    gpu_hours: float
    gpu_share: float
    mean: FleetMean
    memory_peak_bytes: float | None
    idle_share: float | None
    idle_held_share: float | None
    shares: dict[str, float]
    usd_per_gpu_hour: float
    price_basis: str
    price_source: str
    spend_usd: float
    waste_usd: float


@dataclasses.dataclass(frozen=True)
class FleetMove(Record):
    gpu: str
    owner: str
    instance: str | None
    to: str


@dataclasses.dataclass(frozen=True)
class FleetWorst(Record):
    time: str
    seconds: float
    load: float


@dataclasses.dataclass(frozen=True)
class FleetTooSmallShare(Record):
    low: float
    likely: float
    high: float


@dataclasses.dataclass(frozen=True)
class FleetForecast(Record):
    load_p95: float
    load_peak: float
    latency_factor_p95: float
    latency_factor_peak: float
    too_small_share: FleetTooSmallShare
    worst: list[FleetWorst]


@dataclasses.dataclass(frozen=True)
class FleetAction(Record):
    kind: str
    what: str
    to: str
    saving_usd_per_month: float
    owner: str
    risk: str
    forecast: FleetForecast | None
    check: str
    commands: list[str]
    manifest: str | None
    rollback: str
    confidence: float
    gpus: list[str]
    moves: list[FleetMove]
    instead_of: list[str]


@dataclasses.dataclass(frozen=True)
class FleetWorkload(Record):
    name: str
    gpus: int
    gpu_hours: float
    idle_gpu_hours: float
    spend_usd: float
    waste_usd: float


@dataclasses.dataclass(frozen=True)
class FleetNamespace(Record):
    name: str
    gpus: int
    gpu_hours: float
    idle_gpu_hours: float
    spend_usd: float
    waste_usd: float


@dataclasses.dataclass(frozen=True)
class FleetOwner(Record):
    owner: str
    gpus: int | None = None
    gpu_hours: float | None = None
    idle_gpu_hours: float | None = None
    spend_usd: float | None = None
    waste_usd: float | None = None
    team: str | None = None
    seconds: float | None = None
    idle_seconds: float | None = None


@dataclasses.dataclass(frozen=True)
class FleetLedger(Record):
    category: str
    gpu_hours: float
    usd: float
    share: float
    gpus: int
    rule: str
    confidence: float


@dataclasses.dataclass(frozen=True)
class FleetTotals(Record):
    gpus: int
    gpus_priced: int
    gpu_hours: float
    spend_usd: float
    waste_usd: float
    waste_share: float
    idle_gpu_hours: float
    usd_per_month: float
    savings_usd_per_month: float
    savings_bound_usd_per_month: float
    remedies_considered: int
    window_seconds: float
    share_read: float


@dataclasses.dataclass(frozen=True, repr=False)
class Fleet(Result):
    """What 'rightsize fleet' answers."""
    schema: str
    totals: FleetTotals
    ledger: list[FleetLedger]
    owners: list[FleetOwner]
    actions: list[FleetAction]
    gpus: list[FleetGpu]
    metrics_found: FleetMetricsFound
    read: list[str]
    notes: list[str]
    failures: list[str]
    misleading: list[str]
    namespaces: list[FleetNamespace] | None = None
    workloads: list[FleetWorkload] | None = None
    jobs: FleetJobs | None = None
    users: list[FleetUser] | None = None
    accounts: list[FleetAccount] | None = None
    partitions: list[FleetPartition] | None = None
    states: list[FleetState] | None = None
    labels: dict[str, list[FleetLabel]] | None = None
    timelines: list[FleetTimeline] | None = None
    without_action: list[FleetWithoutAction] | None = None


Fleet._fields_of = {'totals': FleetTotals, 'ledger': FleetLedger, 'owners': FleetOwner, 'namespaces': FleetNamespace, 'workloads': FleetWorkload, 'actions': FleetAction, 'gpus': FleetGpu, 'metrics_found': FleetMetricsFound, 'jobs': FleetJobs, 'users': FleetUser, 'accounts': FleetAccount, 'partitions': FleetPartition, 'states': FleetState, 'labels': FleetLabel, 'timelines': FleetTimeline, 'without_action': FleetWithoutAction}
FleetForecast._fields_of = {'too_small_share': FleetTooSmallShare, 'worst': FleetWorst}
FleetAction._fields_of = {'forecast': FleetForecast, 'moves': FleetMove}
FleetGpu._fields_of = {'owners': FleetOwner, 'mean': FleetMean}
FleetIssue._fields_of = {'examples': FleetExample}
FleetJobs._fields_of = {'issues': FleetIssue}
Fleet._rows = 'gpus'
