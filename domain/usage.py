"""What a run used."""

from pydantic import Field

from domain.model import Model


class Usage(Model):
    """What a run used. ``considered``: candidates shown; tokens are zero without a model. Times in seconds.

    ``by_purpose``: model calls by the decision they were made for (choose, arguments, …); ``tokens_by_purpose``: their tokens, in
    and out. ``plan_seconds``: to find tools and a path, and to write and check programs; of it ``write_seconds`` and ``check_seconds``;
    ``execute_seconds``: to run programs and make calls. They add up those of subtasks that ran side by side; in none of them is what a run waits
    for its user. ``reflections``: those that made the walk go on. ``cost``: of the models' tokens, in the currency of their prices, None where none has
    one.
    """

    considered: int = 0
    decisions: int = 0
    backtracks: int = 0
    reflections: int = 0
    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    by_purpose: dict[str, int] = Field(default_factory=dict)
    tokens_by_purpose: dict[str, int] = Field(default_factory=dict)
    plan_seconds: float = 0.0
    write_seconds: float = 0.0
    check_seconds: float = 0.0
    execute_seconds: float = 0.0
    total_seconds: float = 0.0
    cost: float | None = None
