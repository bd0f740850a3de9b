"""How the rule-based model splits a request, and what it thinks of a path."""

import re

from tests.models.prompt_reading import blocks, path_tools, telling, topics

_BETWEEN = re.compile(r"(?<=[.?!]) +(?=[A-Z])|,? and (?=(?:what|which|who|whose|where|when|how)\b)", re.IGNORECASE)
_LEANS = re.compile(r"\b(?:it|its|there|that|this|those|they|their|he|his|she|her|then|both)\b", re.IGNORECASE)

_NAMES = re.compile(r"\d|[\"“]|(?<!^)\b[A-Z]")


def split(prompt: str) -> dict[str, object]:
    """Parts that have no word in common and name something of their own are subtasks."""
    found = [text.strip() for text in _BETWEEN.split(blocks(prompt).get("request", "")) if text.strip()]
    about = [topics(text) for text in found]
    alone = all(one and not one & other for at, one in enumerate(about) for other in about[:at])
    if len(found) < 2 or not alone or any(_LEANS.search(text) or not _NAMES.search(text) for text in found[1:]):
        return {"reason": "it hangs together", "subtasks": []}
    return {"reason": "nothing in common", "subtasks": [_subtask(text) for text in found[:5]]}


def _subtask(text: str) -> dict[str, object]:
    return {"name": text[:40], "description": text, "depends_on": [], "earlier": []}


def judge(prompt: str) -> dict[str, object]:
    """A path is wrong from the first step on whose words, name included, are neither the request's nor those of a later step."""
    parts = blocks(prompt)
    if "The planning gave up" in prompt or "path" not in parts:
        return _judgement("total", "no tool fits")
    asked = topics(parts.get("request", ""))
    steps = [telling(f"{api} {text}") for api, text in path_tools(parts["path"])]
    for number, words in enumerate(steps, start=1):
        after = frozenset(word for later in steps[number:] for word in later)
        if not words & (asked | after):
            return _judgement("partial", "this step has nothing to do with the request", number)
    return _judgement("success", "its steps are about what is asked")


def _judgement(verdict: str, reason: str, first_wrong: int | None = None) -> dict[str, object]:
    return {"reason": reason, "verdict": verdict, "first_wrong": first_wrong, "noisy": []}
