"""Examples of the tool graph as it is explored."""

from server.example_plans import AT, Example

_TOOL = "days/calendar/list_holidays"
_OTHER = "places/search/country_code"
_WALK: Example = {
    "source": _OTHER,
    "target": _TOOL,
    "weight": 0.42,
    "imported": 31,
    "live": 4,
    "strength": 3.1,
    "mark": None,
    "availability": 0.97,
    "score": 0.41,
}
_COUPLED: Example = {"field": "code", "parameter": "country_code", "score": 0.91}
_FEED: Example = {"source": _OTHER, "target": _TOOL, "score": 0.91, "couplings": [_COUPLED], "many": 1}
_NODE: Example = {
    "id": _TOOL,
    "category": "days",
    "toolset": "calendar",
    "api": "list_holidays",
    "effect": "reads",
    "availability": 0.97,
    "tried": 40,
    "depth": 0,
    "beyond": 3,
    "banned": False,
}
_SET: Example = {
    "id": "days/calendar",
    "category": "days",
    "toolset": "calendar",
    "tools": 4,
    "walked": 60,
    "inside": 12,
}
_JOIN: Example = {"source": "places/search", "target": "days/calendar", "walked": 35, "coupled": 3}
_STEP: Example = {"source": _OTHER, "target": _TOOL, "walk": _WALK, "feed": _FEED}
_OTHER_WAY: Example = {
    "tool": "days/feasts/feasts_of",
    "weight": 0.5,
    "availability": 0.6,
    "score": 0.3,
    "mark": None,
    "fit": None,
}
_COUPLING: Example = _COUPLED | {
    "because": "entity",
    "entity": "country",
    "form": "code",
    "spoken": False,
    "recorded": 12,
    "recorded_of": 14,
    "example": "XC",
    "example_of": "recorded",
}
_PLACE: Example = {"place": "country_code", "field": False, "entity": "country", "form": "code", "said": False}

GRAPH: dict[str, Example] = {
    "GraphTool": _NODE,
    "GraphWalk": _WALK,
    "Coupled": _COUPLED,
    "GraphFeed": _FEED,
    "GraphPicture": {
        "centre": _TOOL,
        "ends": 0.2,
        "tools": [
            _NODE,
            _NODE | {"id": _OTHER, "category": "places", "toolset": "search", "api": "country_code", "depth": 1},
        ],
        "walks": [_WALK],
        "feeds": [_FEED],
        "left_out": 2,
        "edges_left_out": 0,
    },
    "GraphSet": _SET,
    "SetJoin": _JOIN,
    "BusyTool": {"id": _OTHER, "walked": 60},
    "GraphOverview": {
        "sets": [_SET],
        "toolsets": 30,
        "tools": 136,
        "joins": [_JOIN],
        "joins_left_out": 0,
        "counted_whole": True,
        "busiest": [{"id": _OTHER, "walked": 60}],
    },
    "PathStep": _STEP,
    "GraphPath": {"score": 0.41, "steps": [_STEP]},
    "GraphPaths": {"paths": [{"score": 0.41, "steps": [_STEP]}], "left_out": 0},
    "OtherWay": _OTHER_WAY,
    "CouplingInFull": _COUPLING,
    "ForbiddenFeed": {"field": "name", "parameter": "country_code"},
    "GraphEdge": {
        "source": _OTHER,
        "target": _TOOL,
        "walk": _WALK,
        "place": 1,
        "ways": 3,
        "others": [_OTHER_WAY],
        "fit": None,
        "heard": AT,
        "couplings": [_COUPLING],
        "couplings_left_out": 0,
        "forbidden": [],
    },
    "PlaceEntity": _PLACE,
    "ToolEntities": {"places": [_PLACE], "left_out": 0, "of_source": None},
}
