"""Examples of plans and templates, for the API's document."""

from typing import Any

Example = dict[str, Any]
RUN = "01980f6e-8a77-7a03-a5e2-0b6d4c8f0c03"
AT, LATER, UNTIL = "2026-03-01T12:00:00Z", "2026-03-01T12:00:02.5Z", "2026-03-31T12:00:00Z"
TEMPLATE_ID = "01980f6e-c5d4-7a07-9b02-3e7f9d0a0c07"

STEP: Example = {
    "tool": "places/search/country_code",
    "arguments": {"country": "Caldera"},
    "takes": {},
    "named": {},
}
NEXT: Example = {
    "tool": "calendars/holidays/list_holidays",
    "arguments": {"year": 2026},
    "takes": {"country_code": {"step": 1, "field": "code"}},
    "named": {},
}
TEXT = """country_code_answer = await country_code(country="Caldera")
list_holidays_answer = await list_holidays(year=2026, country_code=country_code_answer["code"])"""
PLAN: Example = {"steps": [STEP, NEXT], "parameters": {}}
COUNTRY: Example = {"type": "string", "default": "Caldera"}
NAMED: Example = {
    "steps": [STEP | {"arguments": {}, "named": {"country": "country"}}, NEXT],
    "parameters": {"country": COUNTRY},
}
TEMPLATE: Example = {
    "id": TEMPLATE_ID,
    "name": "Public holidays",
    "description": "Those of a country in 2026.",
    "shared": False,
    "own": True,
    "version": 1,
    "taken": None,
    "created_at": AT,
    "updated_at": LATER,
    "use": {"runs": 4, "answered": 3, "last_used_at": LATER},
}
PROGRAM: Example = {
    "program": {
        "text": "found = await country_code(country=country)\n"
        'days = await list_holidays(country_code=found["code"], year=2026)\n'
        '{"answered": "yes", "answer": ", ".join(day["name"] for day in days)}',
        "tools": {"country_code": STEP["tool"], "list_holidays": NEXT["tool"]},
        "arguments": {
            "country_code": {"country": "country"},
            "list_holidays": {"country_code": "country_code", "year": "year"},
        },
        "stubs": "async def country_code(*, country: str) -> Any: ...",
        "tainted": False,
    },
    "inputs": {"country": COUNTRY},
    "values": {},
}
VERSION: Example = {
    "version": 1,
    "parameters": {"country": COUNTRY},
    "program": PROGRAM,
    "document": NAMED,
    "problem": "",
    "request": "Which public holidays does {country} have in 2026?",
    "created_at": AT,
}
VERSION_BODY: Example = {"run_id": RUN, "parameters": {"country": {"input": "country"}}}
SOLUTION: Example = {
    "id": "5f0c6d1f2b9e4a7788990011.a1b2c3d4e5f6",
    "patterns": ["Which public holidays does {country} have in 2026?"],
    "path": ["places/search/country_code", "calendar/days/list_holidays"],
    "origin": "run",
    "own": True,
    "good": 3,
    "bad": 0,
    "suspended": "",
    "approved": False,
    "likeness": None,
    "at": AT,
}
WHOLE_SOLUTION: Example = {
    "program": PROGRAM,
    "parameters": {"country": {"type": "string"}},
    "wrong": [],
    "runs": [RUN],
    "drift": [],
}
