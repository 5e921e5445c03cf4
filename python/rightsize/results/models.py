# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from __future__ import annotations

import dataclasses
from typing import Any

from ..result import Record, Result


@dataclasses.dataclass(frozen=True)
class ModelsFamily(Record):
    name: str
    description: str


@dataclasses.dataclass(frozen=True)
class ModelsLatentAttention(Record):
    q_rank: int
    kv_rank: int


@dataclasses.dataclass(frozen=True)
class ModelsExperts(Record):
    count: int
    per_token: int
    shared: int


@dataclasses.dataclass(frozen=True)
class ModelsModel(Record):
    name: str
    family: str
    architecture: str
    parameters: int
    active_parameters: int
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    vocabulary: float
    context: int | None
    tied_embeddings: bool
    source: str | None = None
    date: str | None = None
    unverified: bool | None = None
    experts: ModelsExperts | None = None
    encoder_layers: int | None = None
    sliding_window: int | None = None
    latent_attention: ModelsLatentAttention | None = None


@dataclasses.dataclass(frozen=True, repr=False)
class Models(Result):
    """What 'rightsize models' answers."""
    schema: str
    models: list[ModelsModel]
    families: list[ModelsFamily] | None = None


ModelsModel._fields_of = {'experts': ModelsExperts, 'latent_attention': ModelsLatentAttention}
Models._fields_of = {'models': ModelsModel, 'families': ModelsFamily}
Models._rows = 'models'
