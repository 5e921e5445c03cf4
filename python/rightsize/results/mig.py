# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class MigPlanRoom(Record):
    profile: str
    start: int
    size: int
    gpu: int


@dataclasses.dataclass(frozen=True)
class MigPlanStep(Record):
    kind: str
    workload: str
    profile: str
    from_gpu: int
    from_start: int
    to_gpu: int
    to_start: int
    temporary: bool
    interrupts: bool


@dataclasses.dataclass(frozen=True)
class MigPlanUnplaceable(Record):
    workload: str
    line: int
    reason: str
    would_fit: str


@dataclasses.dataclass(frozen=True)
class MigPlanAlternative(Record):
    way: str
    feasible: bool
    why_not: str
    gpu_count: int
    gpus: dict[str, int]
    usd_per_month: float
    lower_bound: float
    isolation: str


@dataclasses.dataclass(frozen=True)
class MigPlanPrice(Record):
    gpu: str
    usd_per_hour: float
    source: str


@dataclasses.dataclass(frozen=True)
class MigPlanProfile(Record):
    profile: str
    fits_now: int
    fits_repacked: int


@dataclasses.dataclass(frozen=True)
class MigPlanCreate(Record):
    profile: str
    start: int
    size: int


@dataclasses.dataclass(frozen=True)
class MigPlanWorkload(Record):
    workload: str
    replica: int


@dataclasses.dataclass(frozen=True)
class MigPlanInstance(Record):
    profile: str
    start: int
    size: int
    workload: str
    workloads: list[MigPlanWorkload] | None = None


@dataclasses.dataclass(frozen=True)
class MigPlanGpu(Record):
    index: float | None = None
    gpu: str | None = None
    instances: list[MigPlanInstance] | None = None
    name: str | None = None
    fits: bool | None = None
    create: list[MigPlanCreate] | None = None
    command: str | None = None
    fits_after_repacking: bool | None = None
    largest_part_that_fits: str | None = None
    free_memory_slices: int | None = None
    free_compute_slices: int | None = None
    profiles: list[MigPlanProfile] | None = None


@dataclasses.dataclass(frozen=True)
class MigPlanLayout(Record):
    instances: dict[str, int]
    maximal: bool


@dataclasses.dataclass(frozen=True, repr=False)
class MigPlan(Result):
    """What 'rightsize mig' answers."""
    schema: str
    gpu: str | None = None
    layouts: list[MigPlanLayout] | None = None
    gpu_count: int | None = None
    gpus: list[MigPlanGpu] | None = None
    usd_per_month: float | None = None
    lower_bound: float | None = None
    gap: float | None = None
    proved_optimal: bool | None = None
    out_of_time: bool | None = None
    prices: list[MigPlanPrice] | None = None
    alternatives: list[MigPlanAlternative] | None = None
    mig_parted: str | None = None
    config_map: str | None = None
    nvidia_smi: str | None = None
    kubernetes: str | None = None
    dra: str | None = None
    unplaceable: list[MigPlanUnplaceable] | None = None
    fits: bool | None = None
    feasible: bool | None = None
    moves: int | None = None
    proved_fewest: bool | None = None
    gpus_before: int | None = None
    gpus_after: int | None = None
    steps: list[MigPlanStep] | None = None
    room: list[MigPlanRoom] | None = None


MigPlan._fields_of = {'layouts': MigPlanLayout, 'gpus': MigPlanGpu, 'prices': MigPlanPrice, 'alternatives': MigPlanAlternative, 'unplaceable': MigPlanUnplaceable, 'steps': MigPlanStep, 'room': MigPlanRoom}
MigPlanInstance._fields_of = {'workloads': MigPlanWorkload}
MigPlanGpu._fields_of = {'instances': MigPlanInstance, 'create': MigPlanCreate, 'profiles': MigPlanProfile}
MigPlan._rows = 'gpus'
