"""Examples of files of conversations, and of why a tool was not offered, for the API's document."""

from server.example_plans import AT, Example

FILE: Example = {
    "name": "trips.csv",
    "variable": "trips",
    "kind": "table",
    "rows": 1,
    "characters": 24,
    "columns": [{"name": "country", "type": "text", "empty": 0}, {"name": "days", "type": "integer", "empty": 0}],
    "note": "",
    "id": "01980f6e-c5d4-7a07-9b02-3e7f9dab0c07",
}
_ROWS: list[Example] = [{"country": "Rioverde", "days": 3}]
KEPT_FILE: Example = {"file": {**FILE, "value": _ROWS}, "bytes": 24, "created_at": AT}
FILES: dict[str, Example] = {
    "FileBody": {"name": "trips.csv", "content": "Y291bnRyeSxkYXlzClJpb3ZlcmRlLDMK"},
    "ShownFile": {**FILE, "bytes": 24, "created_at": AT, "sample": _ROWS},
    "WhyNot": {
        "tool": "places/search/country_code",
        "place_then": 0,
        "called": 0,
        "offered": False,
        "place": 21,
        "found": 34,
        "short": 0.8,
        "stands_for": "",
        "reasons": [{"told": "found for the request", "share": 0.4, "by": "", "detail": ""}],
        "links": [],
    },
}
