# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class MemoryCombination(Record):
    options: list[str]
    flags: str
    saved_bytes: float
    device_bytes: float
    high_bytes: float
    slowdown: float | None
    notes: list[MemoryNote]
    gpu: str
    same_result: bool


@dataclasses.dataclass(frozen=True)
class MemoryNote(Record):
    option: str
    accuracy: str


@dataclasses.dataclass(frozen=True)
class MemoryEach(Record):
    options: list[str]
    flags: str
    saved_bytes: float
    device_bytes: float
    high_bytes: float
    slowdown: float | None
    notes: list[MemoryNote]


@dataclasses.dataclass(frozen=True)
class MemoryOptions(Record):
    each: list[MemoryEach]
    combinations: list[MemoryCombination]


@dataclasses.dataclass(frozen=True)
class MemoryFit(Record):
    gpu: str
    capacity_bytes: float
    verdict: str
    headroom_bytes: float
    oom_probability: float


@dataclasses.dataclass(frozen=True)
class MemoryPart(Record):
    name: str
    bytes: float


@dataclasses.dataclass(frozen=True)
class MemoryPerGpu(Record):
    peak_allocated_bytes: float
    reserved_bytes: float
    device_bytes: float
    low_bytes: float
    high_bytes: float


@dataclasses.dataclass(frozen=True, repr=False)
class Memory(Result):
    """What 'rightsize memory' answers."""
    schema: str
    model: str
    job: str
    per_gpu: MemoryPerGpu
    basis: str
    parts: list[MemoryPart]
    fits: list[MemoryFit]
    warnings: list[str]
    options: MemoryOptions | None = None
    kv_bytes_per_token: float | None = None
    max_concurrency: float | None = None


Memory._fields_of = {'per_gpu': MemoryPerGpu, 'parts': MemoryPart, 'fits': MemoryFit, 'options': MemoryOptions}
MemoryEach._fields_of = {'notes': MemoryNote}
MemoryOptions._fields_of = {'each': MemoryEach, 'combinations': MemoryCombination}
MemoryCombination._fields_of = {'notes': MemoryNote}
Memory._rows = 'fits'
