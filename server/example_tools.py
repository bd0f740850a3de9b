"""Examples of the tool library, for the API's document."""

from server.example_graph import GRAPH
from server.example_plans import AT, LATER, Example

_TOOL = "calendars/holidays/list_holidays"
_LISTED: Example = {
    "id": _TOOL,
    "function": "list_holidays",
    "category": "calendars",
    "toolset": "holidays",
    "api": "list_holidays",
    "description": "The public holidays of a country in a year.",
    "host": "api.example.com",
    "effect": "reads",
    "availability": 0.97,
    "tried": 53,
    "went_well": 51,
    "origin": "openapi:calendars.json",
    "source": None,
    "score": 0.71,
    "dense": 0.64,
    "lexical": 0.78,
    "odds": 3.2,
    "alike": [],
}
_SET: Example = {"toolset": "holidays", "tools": 3}
_RECORD: Example = {
    "calls": 40,
    "successes": 39,
    "ok": 12,
    "transient": 1,
    "gone": 0,
    "told": ["0.97 in the long run: live ones 11.4 for it and 0.3 against, the newer the more"],
    "over_time": [{"at": AT, "availability": 0.97, "outcomes": ["ok"]}],
}
_PARAMETER: Example = {
    "name": "country_code",
    "type": "string",
    "location": "query",
    "required": True,
    "description": "Two letters.",
    "default": None,
    "example": "XC",
    "takes": {"type": "string"},
}
_CREDENTIAL: Example = {"secret": "calendars", "place": "header", "name": "X-Api-Key", "required": True}
_SOLUTION: Example = {
    "id": "5f1c0de2a9b34c77",
    "pattern": "Which public holidays does {country} have in {year}?",
    "own": True,
    "good": 4,
    "bad": 0,
    "suspended": "",
}
_OTHER = "places/search/country_code"
_WALK: Example = {
    "tool": _OTHER,
    "weight": 0.62,
    "imported": 31,
    "live": 4,
    "strength": 3.1,
    "mark": None,
    "availability": 0.99,
}
_FEED: Example = {"tool": _OTHER, "field": "code", "parameter": "country_code", "score": 0.91}
_SUBSTITUTE: Example = {"tool": "days/feasts/feasts_of", "score": 0.83, "parameters": {"country_code": "country"}}
_RECORDED: Example = {
    "arguments": '{"country_code": "XC"}',
    "response": '{"holidays": []}',
    "whole": 16,
    "outcome": "ok",
}
_TRY: Example = {
    "id": "01980f6e-c5d4-7f07-8b02-3e7f9d0a0c07",
    "tool": _TOOL,
    "arguments": {"country_code": "XC"},
    "changes": False,
    "started_at": AT,
    "finished_at": LATER,
    "outcome": "ok",
    "http_status": 200,
    "response": '{"holidays": []}',
    "whole": 16,
    "note": "",
    "milliseconds": 120,
}
_MARK: Example = {
    "tool": _TOOL,
    "kind": "edge",
    "target": _OTHER,
    "mark": "ban",
    "reason": "It answers for the wrong year.",
    "sources": [],
    "place": "",
    "field": "",
    "entity": "",
    "id": "01980f6e-c5d4-7f07-8b02-3e7f9d0a0c08",
    "by": "boss",
    "at": AT,
}

LIBRARY: dict[str, Example] = GRAPH | {
    "LibraryTool": _LISTED,
    "ToolPage": {"tools": [_LISTED], "next": "50", "total": 120},
    "ShownToolset": _SET,
    "ShownCategory": {"category": "calendars", "tools": 12, "toolsets": 4, "sets": [_SET]},
    "ToolParameter": _PARAMETER,
    "ToolCredential": _CREDENTIAL,
    "ToolRecord": _RECORD,
    "AvailabilityMoment": {"at": AT, "availability": 0.97, "outcomes": ["ok"]},
    "ToolSolution": _SOLUTION,
    "ToolWalk": _WALK,
    "ToolFeed": _FEED,
    "ToolSubstitute": _SUBSTITUTE,
    "ToolNeighbours": {
        "after": [],
        "afters": 0,
        "before": [_WALK],
        "befores": 1,
        "feeds_in": [_FEED],
        "feed_ins": 1,
        "feeds_out": [],
        "feed_outs": 0,
        "substitutes": [_SUBSTITUTE],
    },
    "RecordedAnswer": _RECORDED,
    "RecordedAnswers": {"calls": [_RECORDED], "total": 40},
    "TryBody": {"arguments": {"country_code": "XC"}, "leave": False, "key": "3f0c9a52-try-1"},
    "ToolTry": _TRY,
    "ToolTryAnswer": _TRY | {"short": ""},
    "MarkBody": {"kind": "edge", "target": _OTHER, "mark": "ban", "reason": "It answers for the wrong year."},
    "ToolMark": _MARK,
    "EdgeMark": {
        "target": _OTHER,
        "mark": "ban",
        "reason": "It answers for the wrong year.",
        "by": "boss",
        "at": AT,
    },
    "ToolMarksShown": {"tool": "", "reason": "", "edges": [], "history": [_MARK]},
    "AboutTool": _LISTED
    | {
        "method": "GET",
        "url": "https://api.example.com/holidays",
        "why": "it is called by GET",
        "signature": "async def list_holidays(country_code: str, year: int) -> {'holidays': list}: ...",
        "toolset_description": "",
        "parameters": [_PARAMETER],
        "credentials": [_CREDENTIAL],
        "example": '{"holidays": []}',
        "record": _RECORD,
        "takes_entities": ["country"],
        "gives_entities": ["holiday"],
        "solutions": [_SOLUTION],
    },
}
