"""A language model or an embedding service that an administrator has set up: where it is, how it is asked, what its test found."""

from datetime import datetime
from typing import Literal

from pydantic import ConfigDict, Field

from domain.model import Model

ServiceKind = Literal["chat", "embedding"]
Structured = Literal["auto", "json_schema", "json_object", "text"]
Purpose = Literal["default", "programs", "decisions", "answers", "responses", "gate"]
"""What a language model is asked for: programs; what a run decides besides (its parts, steps, arguments, judgements); the words of answers; which
fields of long responses are kept; the gate's judgement of tools. ``default``: whatever no other service is chosen for."""


class ServiceParameters(Model):
    """How a service is asked. ``temperature``, ``top_p``, ``top_k`` None: its own. ``timeout``: seconds for an answer; ``attempts``: the first
    included. ``max_tokens``, ``structured``: of language models; ``dimension``, ``batch`` and the prefixes: of embedding services, ``shorten``: they
    are asked for vectors of that dimension.
    """

    temperature: float | None = Field(default=0.0, ge=0, le=2, allow_inf_nan=False)
    top_p: float | None = Field(default=None, gt=0, le=1)
    top_k: int | None = Field(default=None, ge=1, le=1_000)
    max_tokens: int = Field(default=1_024, ge=64, le=1_000_000)
    structured: Structured = "auto"
    timeout: float = Field(default=60.0, gt=0, le=600)
    attempts: int = Field(default=3, ge=1, le=10)
    dimension: int | None = Field(default=None, ge=1, le=16_384)
    shorten: bool = False
    query_prefix: str = Field(default="", max_length=1_000)
    document_prefix: str = Field(default="", max_length=1_000)
    batch: int = Field(default=64, ge=1, le=2_048)


class TriedDecision(Model):
    """One kind of decision on a sample. ``right``: what the sample asks for."""

    model_config = ConfigDict(extra="ignore")

    valid: bool
    right: bool
    prompt_tokens: int
    completion_tokens: int
    seconds: float


class TriedPrograms(Model):
    """How many of the samples one form of programs served."""

    model_config = ConfigDict(extra="ignore")

    right: int
    samples: int


class ServiceTest(Model):
    """What a test found. ``works``: it can be used. ``failure``: what is wrong, in one word, with ``error`` in full; ``advice``: what else is to
    be known. None is what was not come to. Seconds of one short answer, and until the first piece of a streamed one. ``decision_cost`` and
    ``run_cost``: in the currency of the prices, of a decision on average and of a run of two calls. Kept as it was found, whatever a later version tells.
    """

    model_config = ConfigDict(extra="ignore")

    works: bool
    failure: str = ""
    error: str = ""
    advice: tuple[str, ...] = ()
    seconds: float | None = None
    first_seconds: float | None = None
    streams: bool | None = None
    counts_tokens: bool | None = None
    listed: bool | None = None
    forms: dict[str, bool] = Field(default_factory=dict)
    decisions: dict[str, TriedDecision] = Field(default_factory=dict[str, TriedDecision])
    programs: dict[str, TriedPrograms] = Field(default_factory=dict[str, TriedPrograms])
    program_form: Literal["code", "grammar"] | None = None
    run_tokens: int = 0
    decision_cost: float | None = None
    run_cost: float | None = None
    dimension: int | None = None
    texts_a_second: float | None = None
    identity: str = ""


class NewModelService(Model):
    """``provider``: whose preset filled the address in. ``own_network``: the address may be one that is not public, as the administrator says.

    Prices are of a million tokens, None where no costs are told.
    """

    kind: ServiceKind
    name: str
    provider: str
    address: str
    own_network: bool = False
    model: str
    parameters: ServiceParameters = ServiceParameters()
    price_prompt: float | None = None
    price_completion: float | None = None
    online: bool = False


class ModelService(NewModelService):
    """``has_key``: one is kept, which is never shown. ``version`` counts changes. ``tested``: at ``tested_at``, as it was then."""

    id: str
    has_key: bool
    tested: ServiceTest | None
    tested_at: datetime | None
    version: int
    created_at: datetime
    created_by: str
    changed_at: datetime
    changed_by: str
