"""The offline policy's reading of a question that leans on earlier ones: what it means, and whether earlier results answer it."""

from dataclasses import replace

from agent.conversation import NOTE
from agent.policy.protocol import Results
from agent.policy.subtasks import NAMED, DecomposeQuestion, Decomposition, Subtask
from agent.text import clean
from offline.follow_up import meant
from offline.list_filter import held, narrowed


def followed(question: DecomposeQuestion) -> Decomposition | None:
    """One subtask that stands alone with the earlier calls that it builds on; None where the request leans on nothing earlier."""
    found = meant(question.request, question.earlier)
    if found is None:
        return None
    one = Subtask(1, clean(found.description, NAMED), found.description, earlier=found.steps)
    if found.listed:
        made = [(number, result) for asked in question.earlier for number, _, result in asked.steps]
        holding = next((number for number, result in reversed(made) if held(found.description, result)), None)
        if holding is not None:
            one = replace(one, earlier=(holding,), reread=True)
    return Decomposition((one,), found.reason)


def narrowed_to(request: str, steps: Results) -> Results:
    """The steps, of those of earlier questions only what this one means."""
    return [
        (tool, result.model_copy(update={"response": left}))
        if result.note == NOTE and (left := narrowed(request, result)) is not None
        else (tool, result)
        for tool, result in steps
    ]
