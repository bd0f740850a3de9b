"""Examples of the tool library, for the API's document."""

from server.example_plans import AT, Example

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
    "origin": "openapi:calendars.json",
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

LIBRARY: dict[str, Example] = {
    "LibraryTool": _LISTED,
    "ToolPage": {"tools": [_LISTED], "next": "50", "total": 120},
    "ShownToolset": _SET,
    "ShownCategory": {"category": "calendars", "tools": 12, "toolsets": 4, "sets": [_SET]},
    "ToolParameter": _PARAMETER,
    "ToolCredential": _CREDENTIAL,
    "ToolRecord": _RECORD,
    "AvailabilityMoment": {"at": AT, "availability": 0.97, "outcomes": ["ok"]},
    "ToolSolution": _SOLUTION,
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
