"""Examples of a change of encoder, for the API's document."""

from server.example_plans import AT, Example

_OLD = "footpath-minilm-3:652114fbc9579b78:text1:384"
_NEW = "service:bge-m3:text1:1024"
_CHOICE = "service:01980f6f-2a3b-7c10-8d11-6b0c2a3d1e10"
_VECTORS: Example = {"key": "bundled", "name": "", "identity": _OLD, "dimension": 384, "at": None}
_PREPARED: Example = {"key": _CHOICE, "name": "bge-m3", "identity": _NEW, "dimension": 1024, "at": AT}
_FIGURES: Example = {
    "identity": _OLD,
    "dimension": 384,
    "recall8": 0.81,
    "recall16": 0.9,
    "complete8": 0.7,
    "complete16": 0.83,
    "seconds": 0.021,
    "seconds95": 0.04,
    "bytes": 6_912_000,
    "reranked": True,
    "cost": None,
}
_BETTER: Example = {"identity": _NEW, "dimension": 1024, "recall16": 0.94, "bytes": 18_432_000, "reranked": False}
_EXAMPLE: Example = {
    "request": "Who directed <name>?",
    "needed": ["films/search/find_film"],
    "old": [None],
    "new": [3],
}
_COMPARISON: Example = {
    "old": _FIGURES,
    "new": _FIGURES | _BETTER | {"cost": 0.00002, "seconds": 0.09, "seconds95": 0.15},
    "requests": 120,
    "origins": {"memory": 80, "solution": 40},
    "overlap": 0.72,
    "gained": 9,
    "lost": 4,
    "gains": [_EXAMPLE],
    "losses": [],
    "unshown": 5,
}

EMBEDDINGS: dict[str, Example] = {
    "PrepareBody": {"encoder": _CHOICE},
    "EmbeddingsShown": {
        "tools": 4500,
        "in_use": _VECTORS,
        "beside": _PREPARED,
        "ready": True,
        "former": None,
        "comparison": _COMPARISON,
        "job": None,
        "choices": [
            {
                "key": "bundled",
                "kind": "bundled",
                "name": "",
                "identity": _OLD,
                "dimension": 384,
                "bytes": 23_000_000,
                "seconds": None,
                "texts_a_second": None,
                "price": None,
                "unusable": "",
            }
        ],
    },
}
