"""Examples of sources of tools, for the API's document."""

from server.example_plans import AT, LATER, Example

SOURCE_ID = "01980f6e-c1d2-7f07-8a02-3e7f9d0a0c07"
_AUTHOR = "01980f6e-5f43-7c11-9d4e-2f1f6a1b0c01"
_TOOL = "harbour/Harbour/list_ships"

_PARAMETER: Example = {
    "name": "flag",
    "type": "string",
    "location": "query",
    "required": False,
    "description": "Only ships under this flag.",
    "example": "NL",
    "enum": [],
}
FORM_TOOL: Example = {
    "name": "list_ships",
    "method": "GET",
    "url": "/ships",
    "description": "The ships that lie in the harbour, with name, flag and berth.",
    "parameters": [_PARAMETER],
    "example_response": '{"ships": [{"id": 7, "name": "Zeemeeuw", "flag": "NL", "berth": "A3"}]}',
    "credentials": [{"secret": "HARBOUR_KEY", "place": "header", "name": "X-Api-Key", "prefix": ""}],
    "side_effect": "",
}
NEW_SOURCE: Example = {
    "name": "Harbour",
    "kind": "form",
    "category": "harbour",
    "toolset": "Harbour",
    "tools": [FORM_TOOL],
    "base_url": "https://harbour.example",
    "visibility": "roles",
    "roles": ["author", "admin"],
    "users": [],
    "keys_of": "caller",
    "watch_minutes": 60,
}
SOURCE: Example = {
    "id": SOURCE_ID,
    "name": "Harbour",
    "kind": "form",
    "category": "harbour",
    "toolset": "Harbour",
    "address": "",
    "command": "",
    "author_id": _AUTHOR,
    "author": "ada",
    "base_url": "https://harbour.example",
    "operations": {"tags": [], "paths": [], "methods": [], "names": []},
    "visibility": "roles",
    "roles": ["author", "admin"],
    "users": [],
    "keys_of": "caller",
    "watch_minutes": 60,
    "version": 1,
    "created_at": AT,
    "read_at": AT,
    "checked_at": LATER,
    "counts": {"draft": 0, "tested": 0, "admitted": 1, "quarantined": 0},
    "trouble": "",
    "notes": [],
    "changes": [],
    "checking": False,
    "check_trouble": "",
    "checked": 1,
    "to_check": 1,
}
_OPERATION: Example = {
    "method": "GET",
    "path": "/ships",
    "name": "list_ships",
    "tags": ["ships"],
    "summary": "The ships that lie in the harbour",
    "deprecated": False,
}
OUTLINE: Example = {
    "title": "Harbour",
    "total": 1,
    "most": 500,
    "operations": [_OPERATION],
    "tags": [{"tag": "ships", "count": 1}],
}
OPERATIONS: Example = {"tags": ["ships"], "paths": ["/berths"], "methods": ["GET"], "names": []}
_DOCUMENT: Example = {
    "id": _TOOL,
    "category": "harbour",
    "toolset": "Harbour",
    "api": "list_ships",
    "function": "list_ships_for_harbour",
    "method": "GET",
    "url": "https://harbour.example/ships",
    "description": FORM_TOOL["description"],
    "parameters": [{"name": "flag", "type": "string", "description": "Only ships under this flag.", "example": "NL"}],
    "example_response": FORM_TOOL["example_response"],
}
FINDING: Example = {
    "check": "probe",
    "verdict": "passed",
    "told": "It answered 200 in 0.2 s; the answer is its example from now on.",
    "advice": "",
    "evidence": {"status": 200},
}
SOURCE_TOOL: Example = {
    "tool": _TOOL,
    "function": "list_ships_for_harbour",
    "state": "admitted",
    "reason": "",
    "document": _DOCUMENT,
    "original": _DOCUMENT,
    "corrections": {"description": None, "side_effect": None, "examples": {"flag": "NL"}, "entities": {}},
    "findings": [FINDING],
    "version": 1,
    "called": True,
    "offered": True,
    "held": False,
    "gone": False,
    "links": "wholly",
}
STEP: Example = {
    "id": "01980f6e-d3e4-7f08-8b03-4f8a0e1b0c08",
    "at": LATER,
    "who": "ada",
    "what": "admitted",
    "tools": [_TOOL],
    "reason": "",
    "undone": False,
    "undoable": True,
}
SOURCES: dict[str, Example] = {
    "NewSource": NEW_SOURCE,
    "SourceBody": {"visibility": "everybody", "watch_minutes": 240},
    "ShownSource": SOURCE,
    "SentDocument": {"id": "01980f6e-e4f5-7a09-8c04-5a9b1f2c0c09", "bytes": 13_001_822},
    "OutlineBody": {"address": "https://harbour.example/openapi.json"},
    "ShownOutline": OUTLINE,
    "OperationsBody": OPERATIONS,
    "OperationChoice": OPERATIONS,
    "Operation": _OPERATION,
    "TagCount": {"tag": "ships", "count": 1},
    "SourceTool": SOURCE_TOOL,
    "CorrectionsBody": {
        "description": "The ships in the harbour now.",
        "examples": {"flag": "NL"},
        "reason": "It was vague.",
    },
    "AdmitBody": {"tools": [_TOOL]},
    "QuarantineBody": {"tools": [_TOOL], "reason": "It answers with yesterday's ships."},
    "CheckBody": {
        "tools": [_TOOL],
        "requests": {_TOOL: ["Which ships lie in the harbour?"]},
        "arguments": {_TOOL: {"flag": "NL"}},
    },
    "ReadAgainBody": {"tools": [FORM_TOOL]},
    "QualityRow": {
        "category": "harbour",
        "kept": 1,
        "dropped": 1,
        "reasons": [{"tool": "harbour/Harbour/do_it", "reason": "Its description says nothing of what it does."}],
    },
    "ShownTouched": {
        "tool": _TOOL,
        "change": "flag is required now",
        "solutions": ["5f0c1d2e"],
        "templates": ["Ships of today"],
        "others": 2,
    },
    "ShownStep": STEP,
    "UserName": {"id": _AUTHOR, "name": "ada", "role": "author"},
}
