"""The numbers that the offline policy weighs with, chosen on training requests."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChoiceParameters:
    """``floor``: a clause is left unanswered where no tool's relevance reaches it. ``acceptable``: the share of the best relevance from which
    a tool may serve a clause where nothing better can be called. ``step``: what each further call of a route costs. ``fitting``: the floor for
    tools that use at least ``mostly`` of the values of a clause. ``unused``: what is lost where none of the values is used.
    ``locked``: what a route counts that needs a secret.
    """

    floor: float = 0.45
    fitting: float = 0.33
    mostly: float = 0.6
    unused: float = 0.4
    locked: float = 0.6
    acceptable: float = 0.65
    passed: float = 0.7
    walked: float = 0.3
    step: float = 0.88
    ungrounded: float = 0.5
