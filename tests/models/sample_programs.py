"""Authors of programs for the samples of the model check: right in code, right in the grammar, erring at a rate in either."""

import json
import random
from collections.abc import Callable
from typing import Any

from tests.models.openai_replies import ChatRequest
from tests.models.slips import slip

Line = Callable[[ChatRequest], str]
_LIST = {
    "do": "call",
    "name": "cities",
    "function": "list_cities",
    "arguments": [{"parameter": "region", "value": "Northmark"}],
}
_EACH = {
    "do": "for_each",
    "name": "ahead",
    "of": "cities",
    "function": "daily_forecast",
    "arguments": [{"parameter": "city_id", "value": "{item.city_id}"}, {"parameter": "days", "value": 1}],
}
CODE = {
    "Tarnholm on the next": """city = await find_city(name="Tarnholm")
days = (await daily_forecast(city_id=city["city_id"], days=3))["days"]
{"answered": "yes", "answer": ", ".join(str(one["high"]) for one in days)}""",
    "most inhabitants": """cities = await list_cities(region="Northmark")
best = max(cities, key=lambda one: one["population"])
{"answered": "yes", "answer": best["city"]}""",
    "warmest tomorrow": """cities = await list_cities(region="Northmark")
highs = [(await daily_forecast(city_id=one["city_id"], days=1))["days"][0]["high"] for one in cities]
{"answered": "yes", "answer": f"{cities[highs.index(max(highs))]['city']}: {max(highs)}"}""",
    "How many cities": """cities = await list_cities(region="Northmark")
{"answered": "yes", "answer": str(len([one for one in cities if one["population"] > 50000]))}""",
    "Reserve a table": '{"answered": "no", "answer": "", "missing": "a function that reserves tables"}',
}
GRAMMAR: dict[str, dict[str, Any]] = {
    "Tarnholm on the next": {
        "steps": [
            {"do": "call", "name": "city", "function": "find_city", "arguments": [{"parameter": "name", "value": "Tarnholm"}]},
            {"do": "call", "name": "ahead", "function": "daily_forecast", "arguments": [{"parameter": "city_id", "value": "{city.city_id}"}, {"parameter": "days", "value": "3"}]},
        ],
        "answered": "yes", "answer": "{ahead.days[].high} degrees", "missing": "",
    },
    "most inhabitants": {
        "steps": [_LIST, {"do": "most", "name": "best", "of": "cities", "field": "population", "how_many": 1}],
        "answered": "yes", "answer": "{best.city}", "missing": "",
    },
    "warmest tomorrow": {
        "steps": [_LIST, _EACH, {"do": "most", "name": "best", "of": "ahead", "field": "result.days[0].high", "how_many": 1}],
        "answered": "yes", "answer": "{best.item.city}: {best.result.days[0].high}", "missing": "",
    },
    "How many cities": {
        "steps": [_LIST, {"do": "where", "name": "large", "of": "cities", "field": "population", "test": ">", "value": 50000}, {"do": "count", "name": "many", "of": "large"}],
        "answered": "yes", "answer": "{many} of them", "missing": "",
    },
    "Reserve a table": {"steps": [], "answered": "no", "answer": "", "missing": "a function that reserves tables"},
}  # fmt: skip


def _about(request: ChatRequest, said: dict[str, Any]) -> Any:
    asked = str(request.messages[1]["content"])
    return next(one for mark, one in said.items() if mark in asked)


def coder(error_rate: float, seed: int = 0) -> Line:
    """Writes the right program; at a rate with a slip."""
    luck = random.Random(seed)

    def line(request: ChatRequest) -> str:
        text = _about(request, CODE)
        return slip(text, luck)[1] if luck.random() < error_rate else f"```python\n{text}\n```"

    return line


def planner(error_rate: float, seed: int = 0) -> Line:
    """Gives the right sentence; at a rate with a wrong function, a wrong field, or cut short."""
    luck = random.Random(seed)

    def line(request: ChatRequest) -> str:
        text = json.dumps(_about(request, GRAMMAR))
        if luck.random() >= error_rate:
            return text
        return luck.choice(
            [text.replace("list_cities", "get_cities"), text.replace("city_id}", "id}"), text[: len(text) // 2]]
        )

    return line
