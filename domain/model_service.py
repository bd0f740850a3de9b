"""Language models and embedding services that an administrator configured, with their test results."""

from datetime import datetime
from typing import Literal

from pydantic import ConfigDict, Field

from domain.model import Model

ServiceKind = Literal["chat", "embedding"]
Structured = Literal["auto", "json_schema", "json_object", "text"]
Purpose = Literal["default", "programs", "decisions", "answers", "responses", "gate"]
"""What a language model is used for.

``programs``: writing programs; ``decisions``: the other decisions of a run, such as parts, steps, arguments and
judgements; ``answers``: wording answers; ``responses``: choosing which fields of long responses are kept; ``gate``:
judging tools for admission; ``default``: everything that no other service is chosen for.
"""


class ServiceParameters(Model):
    """How requests to a service are made."""

    temperature: float | None = Field(default=0.0, ge=0, le=2, allow_inf_nan=False)
    """None for the service's own default, as for ``top_p`` and ``top_k``."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    top_k: int | None = Field(default=None, ge=1, le=1_000)
    max_tokens: int = Field(default=1_024, ge=64, le=1_000_000)
    """Of language models."""
    structured: Structured = "auto"
    """How structured answers are requested from a language model."""
    timeout: float = Field(default=60.0, gt=0, le=600)
    """Seconds for one answer."""
    attempts: int = Field(default=3, ge=1, le=10)
    """Including the first."""
    dimension: int | None = Field(default=None, ge=1, le=16_384)
    """Of embedding services, as are the fields below."""
    shorten: bool = False
    """Whether the service is asked for vectors of ``dimension``."""
    query_prefix: str = Field(default="", max_length=1_000)
    document_prefix: str = Field(default="", max_length=1_000)
    batch: int = Field(default=64, ge=1, le=2_048)
    """Texts in one request."""


class TriedDecision(Model):
    """The result of one kind of decision on a sample."""

    model_config = ConfigDict(extra="ignore")

    valid: bool
    right: bool
    """The decision is the one that the sample expects."""
    prompt_tokens: int
    completion_tokens: int
    seconds: float


class TriedPrograms(Model):
    """How many of the samples programs of one form solved."""

    model_config = ConfigDict(extra="ignore")

    right: int
    samples: int


class ServiceTest(Model):
    """The result of testing a service; None stands for what the test did not reach.

    Stored as it was measured, whatever a later version would report.
    """

    model_config = ConfigDict(extra="ignore")

    works: bool
    """Whether the service can be used."""
    failure: str = ""
    """What is wrong, in one word."""
    error: str = ""
    """What is wrong, in full."""
    advice: tuple[str, ...] = ()
    """What else an administrator should know."""
    seconds: float | None = None
    """Duration of one short answer."""
    first_seconds: float | None = None
    """Seconds until the first piece of a streamed answer."""
    streams: bool | None = None
    counts_tokens: bool | None = None
    listed: bool | None = None
    forms: dict[str, bool] = Field(default_factory=dict)
    decisions: dict[str, TriedDecision] = Field(default_factory=dict[str, TriedDecision])
    programs: dict[str, TriedPrograms] = Field(default_factory=dict[str, TriedPrograms])
    program_form: Literal["code", "grammar"] | None = None
    run_tokens: int = 0
    decision_cost: float | None = None
    """Average cost of a decision, in the currency of the prices."""
    run_cost: float | None = None
    """Cost of a run with two calls, in the currency of the prices."""
    dimension: int | None = None
    texts_a_second: float | None = None
    identity: str = ""


class NewModelService(Model):
    """A service as an administrator configures it."""

    kind: ServiceKind
    name: str
    provider: str
    """Whose preset filled in the address."""
    address: str
    own_network: bool = False
    """The administrator allows an address that is not public."""
    model: str
    parameters: ServiceParameters = ServiceParameters()
    price_prompt: float | None = None
    """Price of a million tokens, as ``price_completion``; None if costs are not to be shown."""
    price_completion: float | None = None
    online: bool = False


class ModelService(NewModelService):
    """A configured service as it is stored."""

    id: str
    has_key: bool
    """Whether a key is stored; the key itself is never shown."""
    tested: ServiceTest | None
    """Result of the last test, as it was at ``tested_at``."""
    tested_at: datetime | None
    version: int
    """Counts changes."""
    created_at: datetime
    created_by: str
    changed_at: datetime
    changed_by: str
