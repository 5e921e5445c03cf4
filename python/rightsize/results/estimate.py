# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import LazyEstimate, make_lazy, Record


@dataclasses.dataclass(frozen=True)
class EstimateMeasured(Record):
    gpu: bool
    vendor: bool
    stack: bool
    format: bool
    family: bool
    size: bool


@dataclasses.dataclass(frozen=True)
class EstimateImage(Record):
    steps: int
    guidance: bool
    width: int
    height: int
    text_encoders: list[str]
    decoder: str


@dataclasses.dataclass(frozen=True)
class EstimateOp(Record):
    name: str
    count: float
    flops: float
    bytes: float
    seconds: float
    bound: str


@dataclasses.dataclass(frozen=True)
class EstimateRoofline(Record):
    peak_flops_per_second: float
    bandwidth_bytes_per_second: float
    ops: list[EstimateOp]


@dataclasses.dataclass(frozen=True)
class EstimateSweep(Record):
    bound: str
    batch: str | None = None
    step_seconds: float | None = None
    samples_per_second_per_gpu: float | None = None
    concurrency: str | None = None
    ttft_seconds: float | None = None
    tpot_seconds: float | None = None
    output_tokens_per_second_per_gpu: float | None = None
    tokens_per_second_per_gpu: float | None = None


@dataclasses.dataclass(frozen=True)
class EstimateInterval(Record):
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class EstimatePart(Record):
    name: str
    seconds: float


@dataclasses.dataclass(frozen=True, repr=False)
class Estimate(LazyEstimate):
    """What 'rightsize estimate' answers."""
    schema: str
    model: str
    job: str
    stack: str
    precision: str
    gpu: str
    gpus: int
    feasible: bool
    tokens_per_second_per_gpu: float | None = None
    samples_per_second_per_gpu: float | None = None
    step_seconds: float | None = None
    mfu: float | None = None
    bound: str | None = None
    parts: list[EstimatePart] | None = None
    device_seconds: float | None = None
    host_seconds: float | None = None
    low: float | None = None
    high: float | None = None
    step_interval: EstimateInterval | None = None
    basis: str | None = None
    warnings: list[str] | None = None
    reason: str | None = None
    hints: list[str] | None = None
    prefill_seconds: float | None = None
    decode_step_seconds: float | None = None
    ttft_seconds: float | None = None
    tpot_seconds: float | None = None
    output_tokens_per_second_per_gpu: float | None = None
    requests_per_second: float | None = None
    max_concurrency: float | None = None
    running: float | None = None
    prefill_parts: list[EstimatePart] | None = None
    ttft_interval: EstimateInterval | None = None
    tpot_interval: EstimateInterval | None = None
    not_measured: list[str] | None = None
    rate_requests_per_second: float | None = None
    utilization: float | None = None
    stable: bool | None = None
    batch_seconds: float | None = None
    sweep: list[EstimateSweep] | None = None
    roofline: EstimateRoofline | None = None
    transfer_seconds: float | None = None
    image: EstimateImage | None = None
    audio_seconds_per_request: float | None = None
    audio_hours_per_gpu_hour: float | None = None
    image_tokens: int | None = None
    measured: EstimateMeasured | None = None


Estimate._fields_of = {'parts': EstimatePart, 'step_interval': EstimateInterval, 'prefill_parts': EstimatePart, 'ttft_interval': EstimateInterval, 'tpot_interval': EstimateInterval, 'sweep': EstimateSweep, 'roofline': EstimateRoofline, 'image': EstimateImage, 'measured': EstimateMeasured}
EstimateRoofline._fields_of = {'ops': EstimateOp}
make_lazy(Estimate, ['parts', 'step_interval', 'warnings', 'hints', 'prefill_parts', 'ttft_interval', 'tpot_interval', 'not_measured', 'sweep', 'roofline', 'image', 'measured'])
