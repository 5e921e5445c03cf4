# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class BatchLengths(Record):
    isl: float
    osl: float
    isl_p95: float
    osl_p95: float


@dataclasses.dataclass(frozen=True)
class BatchStepFit(Record):
    gpu: str
    tp: int
    base_ms: float
    sequence_ms: float
    context_token_ms: float
    prompt_token_ms: float
    request_ms: float
    kv_tokens: int
    worst_step_error: float
    worst_prompt_error: float
    tpot_interval: list[float]
    ttft_interval: list[float]
    with_prompts_ms: float | None = None


@dataclasses.dataclass(frozen=True)
class BatchRelaxation(Record):
    value_ms: float
    gpus: int
    saving_usd_per_month: float


@dataclasses.dataclass(frozen=True)
class BatchBeside(Record):
    gpu: str
    replicas: int
    tp: int


@dataclasses.dataclass(frozen=True)
class BatchSlo(Record):
    metric: str
    slo_percentile: str
    limit_ms: float
    value_ms: float
    half_width_ms: float


@dataclasses.dataclass(frozen=True)
class BatchSetting(Record):
    gpu: str
    gpus: int
    replicas: int
    tp: int
    max_batch: int
    max_delay_ms: float
    instances: int
    usd_per_month: float
    metric: str
    slo_percentile: str
    value_ms: float
    half_width_ms: float
    slos: list[BatchSlo]
    latency_ms: BatchPercentiles
    mean_batch: float
    utilization: float
    load: float
    rejected_share: float
    price_source: str
    token_budget: int | None = None
    ttft_ms: BatchPercentiles | None = None
    tpot_ms: BatchPercentiles | None = None
    beside: BatchBeside | None = None


@dataclasses.dataclass(frozen=True)
class BatchLoadCurve(Record):
    mean: float
    p50: float
    p90: float
    p95: float
    p99: float
    requests_per_second: float


@dataclasses.dataclass(frozen=True)
class BatchPercentiles(Record):
    mean: float
    p50: float
    p90: float
    p95: float
    p99: float


@dataclasses.dataclass(frozen=True, repr=False)
class Batch(Result):
    """What 'rightsize batch' answers."""
    schema: str
    stable: bool | None = None
    latency_ms: BatchPercentiles | None = None
    half_width_ms: BatchPercentiles | None = None
    mean_batch: float | None = None
    utilization: float | None = None
    batches: int | None = None
    rejected: int | None = None
    requests: int | None = None
    capacity_per_second: float | None = None
    load: float | None = None
    simulated_seconds: float | None = None
    quantile_relative_error: float | None = None
    seconds: float | None = None
    load_curve: list[BatchLoadCurve] | None = None
    triton_config: str | None = None
    arrivals_per_second: float | None = None
    plan: BatchSetting | None = None
    considered: int | None = None
    pruned_unstable: int | None = None
    pruned_by_bound: int | None = None
    simulated: int | None = None
    confirmed: int | None = None
    frontier: list[BatchSetting] | None = None
    unbatched: BatchSetting | None = None
    relaxations: list[BatchRelaxation] | None = None
    ttft_ms: BatchPercentiles | None = None
    tpot_ms: BatchPercentiles | None = None
    steps: int | None = None
    preemptions: int | None = None
    output_tokens_per_second: float | None = None
    step_fits: list[BatchStepFit] | None = None
    requests_left_out: int | None = None
    lengths: BatchLengths | None = None


Batch._fields_of = {'latency_ms': BatchPercentiles, 'half_width_ms': BatchPercentiles, 'load_curve': BatchLoadCurve, 'plan': BatchSetting, 'frontier': BatchSetting, 'unbatched': BatchSetting, 'relaxations': BatchRelaxation, 'ttft_ms': BatchPercentiles, 'tpot_ms': BatchPercentiles, 'step_fits': BatchStepFit, 'lengths': BatchLengths}
BatchSetting._fields_of = {'slos': BatchSlo, 'latency_ms': BatchPercentiles, 'ttft_ms': BatchPercentiles, 'tpot_ms': BatchPercentiles, 'beside': BatchBeside}
Batch._rows = 'frontier'
