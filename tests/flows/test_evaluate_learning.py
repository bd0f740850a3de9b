"""``evaluate.py learning`` as a user runs it, behind an author who knows the requests' programs, and says truly what a solution serves."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from playground.near_misses import near_misses
from playground.paraphrases import pairs
from tests.models.openai_replies import ChatRequest
from tests.models.openai_server import model_server_in_thread
from tests.support import forked_commands

ROOT = Path(__file__).parents[2]
FIRST, SECOND = pairs()
FOUND = "found = await search_places(city={!r})\nplace = found['results'][0]\n"
NOW = "now = await get_current_weather(latitude=place['latitude'], longitude=place['longitude'])\n"
BOOK = "found = await search_books(title={!r})\nbook = found['books'][0]\n"
PROGRAMS = {
    "population": (FOUND, "place['population']"),
    "temperature": (FOUND + NOW, "now['temperature']"),
    "wind": (FOUND + NOW, "now['wind_speed']"),
    "prefix": ("land = await find_country(name={!r})\n", "land['calling_code']"),
    "money": ("sum = await convert_currency(amount={}, from_currency={!r}, to_currency={!r})\n", "sum['converted_amount']"),
    "share": ("firm = (await lookup_symbol(company={!r}))[0]\nquote = await get_stock_quote(symbol=firm['symbol'])\n", "quote['price']"),
    "pages": (BOOK + "more = await get_book_details(book_id=book['book_id'])\n", "more['pages']"),
    "stars": (BOOK + "more = await get_book_reviews(book_id=book['book_id'])\n", "more['average_rating']"),
    "runtime": ("film = (await search_movie(query={!r}))['results'][0]\nmore = await movie_details(movie_id=film['id'])\n", "more['runtime']"),
    "weekday": ("day = await get_weekday(date={!r})\n", "day['weekday']"),
}  # fmt: skip
END = '{{"answered": "yes", "answer": str({})}}'


def kind_of(one: dict[str, Any]) -> str:
    return str(one["id"]).partition("-")[0]


def author(request: ChatRequest) -> str:
    """Of what is asked in the prompt: its program, or whether the pattern's kind is its own."""
    known = [one for one in (*FIRST, *SECOND) if str(one["request"]) in request.prompt]
    one = max(known, key=lambda one: len(one["request"]), default=None)
    if str(request.messages[0]["content"]).startswith("A kept program"):
        return json.dumps(filled(request.prompt, one))
    if one is None:
        return "I write no programs."
    text, value = PROGRAMS[kind_of(one)]
    return f"```python\n{text.format(*one['entities'])}{END.format(value)}\n```"


def filled(prompt: str, one: dict[str, Any] | None) -> dict[str, Any]:
    shown = re.search(r"\[\[pattern \w+\]\]\n(.*)\n", prompt)
    assert shown
    kinds = {kind_of(own) for own in (*FIRST, *SECOND) if like(shown[1], str(own["request"]))}
    inputs = re.findall(r"^(\w+): \{", prompt, re.MULTILINE)
    fits = one is not None and kind_of(one) in kinds
    values = zip(inputs, one["entities"], strict=False) if one is not None and fits else ()
    told = [{"input": name, "value": float(value) if name == "amount" else value} for name, value in values]
    return {"reason": "so it is", "fits": fits, "inputs": told, "wordings": []}


def like(pattern: str, request: str) -> bool:
    return re.fullmatch(".+".join(map(re.escape, re.split(r"\{\w+\}", pattern))), request) is not None


@pytest.mark.timeout(400)
def test_what_is_asked_again_costs_few_questions_and_nothing_is_lost() -> None:
    with model_server_in_thread(author) as model:
        done = forked_commands.run(
            [sys.executable, str(ROOT / "scripts" / "evaluate.py"), "learning", "--playground", "--policy", "llm",
             "--planner", "program", "--no-swaps", "--each", os.environ.get("EACH", "3"), "--json"],
            cwd=ROOT, env={**os.environ, "FOOTPATH_MODEL_URL": model.url, "FOOTPATH_MODEL_NAME": "rules"},
            timeout=380,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["memory"]
    assert found["before"]["right"] == found["before"]["n"], "its author knows them all"
    assert (found["lost"], found["near_misses"]["plain"], found["near_misses"]["asked"]) == ([], [], [])
    assert found["near_misses"]["n"] == len(list(near_misses()))
    assert found["taken"]["after"]["none"] <= found["after"]["n"] // 10
    assert found["after"]["model_calls"] < found["before"]["model_calls"]
    assert found["after"]["tokens"] < found["before"]["tokens"] / 2
