# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class GpusProfile(Record):
    profile: str
    id: int
    instances: int
    memory_bytes: float
    compute_slices: int
    memory_slices: int
    sms: int
    placements: list[int]
    media: bool
    unverified: list[str]


@dataclasses.dataclass(frozen=True)
class GpusMig(Record):
    instances: int
    profiles: list[GpusProfile]


@dataclasses.dataclass(frozen=True)
class GpusSparseFlops(Record):
    fp16: float | None = None
    fp8: float | None = None
    int8: float | None = None
    fp4: float | None = None


@dataclasses.dataclass(frozen=True)
class GpusGpu(Record):
    name: str
    vendor: str
    architecture: str
    year: int
    memory_bytes: float
    usable_memory_bytes: float | None
    memory_type: str
    bandwidth_bytes_per_second: float
    flops: dict[str, float | None]
    sparse_flops: GpusSparseFlops
    measured_flops: dict[str, int]
    nvlink_bytes_per_second: float | None
    nvlink_kind: str
    pcie: str
    tdp_watts: float | None
    idle_watts: float | None
    sms: int | None
    compute_capability: str
    mig: GpusMig | None
    aliases: list[str]
    source: list[str]
    date: str
    unverified: list[str]
    note: str
    file: str


@dataclasses.dataclass(frozen=True, repr=False)
class Gpus(Result):
    """What 'rightsize gpus' answers."""
    schema: str
    gpus: list[GpusGpu]


GpusGpu._fields_of = {'sparse_flops': GpusSparseFlops, 'mig': GpusMig}
GpusMig._fields_of = {'profiles': GpusProfile}
Gpus._fields_of = {'gpus': GpusGpu}
Gpus._rows = 'gpus'
