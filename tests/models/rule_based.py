"""A rule-based model behind the local server: it sees the prompt's text and nothing else, and errs at a set rate.

``python -m tests.models.rule_based --port 0 --error-rate 0.1 --seed 1`` prints the address for ``FOOTPATH_MODEL_URL``
(``FOOTPATH_MODEL_NAME=rules``) and serves until it is stopped.
"""

import argparse
import asyncio
import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Callable

from tests.models.openai_replies import ChatRequest
from tests.models.openai_server import model_server
from tests.models.rules_answering import answer, fields
from tests.models.rules_choosing import choose
from tests.models.rules_filling import fill
from tests.models.rules_judging import judge, split
from tests.models.rules_planning import choose_several, whole_path
from tests.models.rules_writing import write
from tests.models.slips import slip

REFUSAL = "I'm sorry, but I can't help with that."
OTHER = "Here are rules for Footpath's own prompts only."
"""What is said to anything else: a check of the endpoint, or a person."""
_FENCE = re.compile(r"\b[0-9a-f]{12}\b")
_MARKS = {
    "split a request": "decompose",
    "judge a planned path": "reflect",
    "all of it in one answer": "whole_path",
    "by API calls, one at a time": "choose_by_result",
    "a graph of tools": "choose",
    "fill in the arguments": "arguments",
    "name the fields": "fields",
    "answer a request": "answer",
    "short Python program": "program",
    "A kept program may serve": "solution",
}


class RuleBasedModel:
    """Deterministic: the same prompt (whatever its fence) asked for the n-th time gets the same reply, errors included.

    ``error_rate``: the share of replies that are spoilt, in one of the ways models do it: a number that is not on offer or of
    another candidate, broken JSON, an invented value, prose around the object, a refusal; in programs a wrong field, a wrong name, a missing await. ``errors``: how often each was done.
    """

    def __init__(self, error_rate: float = 0.0, seed: int = 0) -> None:
        self._rate = error_rate
        self._seed = seed
        self._asked: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.purposes: Counter[str] = Counter()

    def __call__(self, request: ChatRequest) -> str:
        system = str(request.messages[0]["content"])
        purpose = next((purpose for mark, purpose in _MARKS.items() if mark in system), "")
        self.purposes[purpose or "other"] += 1
        if not purpose or len(request.messages) < 2:
            return OTHER
        prompt = str(request.messages[1]["content"])
        luck = self._luck(request)
        if purpose == "program":
            return self._written(prompt, request)
        said = _mended(purpose, prompt, request)
        if luck.random() >= self._rate:
            return said if isinstance(said, str) else json.dumps(said)
        return self._spoilt(purpose, said, luck)

    def _written(self, prompt: str, request: ChatRequest) -> str:
        """A program in a block; spoilt in one of the ways of authors who are in a hurry."""
        text = write(prompt, [str(message["content"]) for message in request.messages[2:]])
        luck = self._luck(request)
        if luck.random() >= self._rate:
            return f"```python\n{text}\n```"
        way, spoilt = slip(text, luck)
        self.errors[way] += 1
        return spoilt

    def _luck(self, request: ChatRequest) -> random.Random:
        plain = _FENCE.sub("", request.prompt)
        digest = hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()
        self._asked[digest] += 1
        return random.Random(f"{self._seed} {digest} {self._asked[digest]}")

    def _spoilt(self, purpose: str, said: "dict[str, object] | str", luck: random.Random) -> str:
        """One way to err that suits the decision."""
        ways: dict[str, Callable[[], str]] = {"refusal": lambda: REFUSAL}
        if isinstance(said, str):
            ways["invented value"] = lambda: f"It is {luck.randint(1, 999)}, as everybody knows."
        else:
            text = json.dumps(said)
            ways["broken JSON"] = lambda: text[: max(1, int(len(text) * luck.uniform(0.3, 0.9)))]
            ways["extra text"] = lambda: (
                f"Sure! Here is what I would do:\n```json\n{text}\n```\nLet me know if it helps."
            )
            if purpose == "arguments":
                ways["invented value"] = lambda: json.dumps(_invented(said, luck))
            elif purpose in ("choose", "fields"):
                ways["wrong number"] = lambda: json.dumps(_misnumbered(said, luck))
        way = luck.choice(sorted(ways))
        self.errors[way] += 1
        return ways[way]()


def _decided(purpose: str, prompt: str) -> "dict[str, object] | str":
    match purpose:
        case "decompose":
            return split(prompt)
        case "reflect":
            return judge(prompt)
        case "choose":
            return choose_several(prompt)
        case "choose_by_result":
            return choose(prompt).told()
        case "whole_path":
            return whole_path(prompt)
        case "arguments":
            return fill(prompt)
        case "fields":
            return fields(prompt)
        case "solution":
            return {"reason": "rules write anew", "fits": False, "inputs": [], "wordings": []}
        case _:
            return answer(prompt)


def _mended(purpose: str, prompt: str, request: ChatRequest) -> "dict[str, object] | str":
    """The decision; where the last message complains of an argument, without that argument."""
    said = _decided(purpose, prompt)
    complaint = str(request.messages[-1]["content"]) if len(request.messages) > 2 else ""
    if purpose != "arguments" or not complaint or isinstance(said, str):
        return said
    bound: list[dict[str, object]] = [dict(b) for b in said["bindings"]]  # type: ignore[attr-defined]
    refused = [str(b["parameter"]) for b in bound if f"{b['parameter']}:" in complaint]
    missing: list[str] = [*said["missing"], *refused]  # type: ignore[misc]
    return {"bindings": [b for b in bound if b["parameter"] not in refused], "missing": missing}


def _invented(said: dict[str, object], luck: random.Random) -> dict[str, object]:
    bound: list[dict[str, object]] = [dict(b) for b in said["bindings"]]  # type: ignore[attr-defined]
    if bound:
        luck.choice(bound)["value"] = luck.choice(["Springfield", "12345", "John Doe", "2020-01-01"])
    return {**said, "bindings": bound}


def _misnumbered(said: dict[str, object], luck: random.Random) -> dict[str, object]:
    wrong = luck.choice([0, -1, 99, luck.randint(1, 10)])
    return {**said, "numbers": [wrong]} if "numbers" in said else {**said, "action": "advance", "number": wrong}


async def _serve(port: int, error_rate: float, seed: int) -> None:
    async with model_server(RuleBasedModel(error_rate, seed), port=port) as served:
        print(served.url, flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser(description="A rule-based model that speaks OpenAI's chat protocol.")
    parser.add_argument("--port", type=int, default=0, help="0: any that is free")
    parser.add_argument("--error-rate", type=float, default=0.0, help="share of replies that are spoilt")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    try:
        asyncio.run(_serve(chosen.port, chosen.error_rate, chosen.seed))
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
