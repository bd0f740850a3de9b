"""Distances over the globe."""

from math import asin, cos, radians, sin, sqrt

_EARTH = 6371


def great_circle(latitude: float, longitude: float, other_latitude: float, other_longitude: float) -> float:
    """Kilometres between two points given in degrees."""
    north, south = radians(latitude), radians(other_latitude)
    half = sin((south - north) / 2) ** 2
    half += cos(north) * cos(south) * sin(radians(other_longitude - longitude) / 2) ** 2
    return 2 * _EARTH * asin(sqrt(half))
