"""The resources that a run used."""

from pydantic import Field

from domain.model import Model


class Usage(Model):
    """The resources that a run used. Durations are in seconds.

    Durations of subtasks that ran in parallel are added up, and none includes waiting for the user.
    """

    considered: int = 0
    """Candidates shown."""
    decisions: int = 0
    backtracks: int = 0
    reflections: int = 0
    """Those after which the search went on."""
    model_calls: int = 0
    prompt_tokens: int = 0
    """Zero without a model, as are ``completion_tokens``."""
    completion_tokens: int = 0
    by_purpose: dict[str, int] = Field(default_factory=dict)
    """Model calls by the decision that they were made for (choose, arguments, …)."""
    tokens_by_purpose: dict[str, int] = Field(default_factory=dict)
    """Prompt and completion tokens of these calls."""
    plan_seconds: float = 0.0
    """Finding tools and a path, and writing and checking programs."""
    write_seconds: float = 0.0
    """Part of ``plan_seconds`` that was spent writing programs."""
    check_seconds: float = 0.0
    """Part of ``plan_seconds`` that was spent checking programs."""
    execute_seconds: float = 0.0
    """Running programs and making calls."""
    total_seconds: float = 0.0
    cost: float | None = None
    """Cost of the models' tokens, in the currency of their prices; None if no model has a price."""
