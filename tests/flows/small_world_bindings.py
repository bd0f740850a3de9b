"""What a model answers when it is to fill in the calls of the small world."""

from tests.models.brain import bind

CITY = bind(("city", "Paris", "request", "Paris"))
POINT = bind(
    ("latitude", 48.85, "step", "1.results[0].latitude"), ("longitude", 2.35, "step", "1.results[0].longitude")
)
