# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class PricesProvider(Record):
    provider: str
    prices: int
    newest_age_days: float
    oldest_age_days: float


@dataclasses.dataclass(frozen=True)
class PricesExpectedUsdPerHour(Record):
    low: float
    likely: float
    high: float


@dataclasses.dataclass(frozen=True)
class PricesPrice(Record):
    provider: str
    instance: str
    gpu: str
    gpus: int
    region: str
    zone: str | None
    purchase: str
    usd_per_hour: float
    usd_per_gpu_hour: float
    expected_usd_per_hour: PricesExpectedUsdPerHour
    community: bool
    launch_floor: bool
    outdated: bool
    usd_per_tflop_hour: float
    usd_per_gbs_hour: float
    usd_per_gib_hour: float
    vcpus: int
    memory_bytes: float
    local_ssd_bytes: float | None
    interconnect: str
    network_bytes_per_second: float | None
    fabric: str
    source: str
    date: str
    age_days: float
    unverified: bool
    note: str
    file: str
    line: int


@dataclasses.dataclass(frozen=True, repr=False)
class Prices(Result):
    """What 'rightsize prices' answers."""
    schema: str
    prices: list[PricesPrice]
    providers: list[PricesProvider]


PricesPrice._fields_of = {'expected_usd_per_hour': PricesExpectedUsdPerHour}
Prices._fields_of = {'prices': PricesPrice, 'providers': PricesProvider}
Prices._rows = 'prices'
