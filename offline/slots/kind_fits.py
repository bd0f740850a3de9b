"""How well an entity of a request fits a kind of parameter."""

from collections.abc import Mapping

from agent.parameters.kinds import NeedKind
from offline.nlp.entities import SpanKind

FITS: Mapping[NeedKind, Mapping[SpanKind, float]] = {
    "secret": {},
    "technical": {},
    "email": {"email": 0.95},
    "url": {"url": 0.95, "domain": 0.8},
    "domain": {"domain": 0.95, "url": 0.7},
    "ip": {"ip": 0.95},
    "phone": {"phone": 0.95},
    "latitude": {"coordinates": 0.95, "number": 0.1},
    "longitude": {"coordinates": 0.95, "number": 0.1},
    "coordinates": {"coordinates": 0.95},
    "currency": {"currency": 0.9, "code": 0.6},
    "unit": {"unit": 0.9},
    "language": {"language": 0.85},
    "country": {"country": 0.88, "name": 0.6, "quoted": 0.55},
    "date": {"date": 0.9, "time": 0.0},
    "year": {"number": 0.0, "date": 0.5},
    "time": {"time": 0.9, "date": 0.0},
    "place": {"name": 0.6, "country": 0.62, "quoted": 0.65, "phrase": 0.4},
    "person": {"name": 0.7, "quoted": 0.75, "phrase": 0.35},
    "organization": {"quoted": 0.7, "name": 0.52, "code": 0.45, "phrase": 0.3},
    "symbol": {"code": 0.75, "name": 0.5, "quoted": 0.6, "currency": 0.55},
    "identifier": {"code": 0.55, "quoted": 0.5, "number": 0.2},
    "amount": {"number": 0.45},
    "number": {"number": 0.35},
    "boolean": {},
    "query": {"quoted": 0.9, "phrase": 0.66, "name": 0.68},
    "text": {"quoted": 0.92},
    "entity": {"quoted": 0.75, "name": 0.52, "phrase": 0.36, "code": 0.4, "number": 0.42},
}
"""How well a span's kind alone speaks for it, in [0, 1]; words around the span move it."""
