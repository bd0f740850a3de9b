"""Units of measure: each is a line, ``base = value * factor + offset``, over the base unit of its quantity."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    name: str
    quantity: str
    factor: float
    offset: float = 0.0


_UNITS = (
    Unit("metre", "length", 1.0), Unit("kilometre", "length", 1000.0), Unit("mile", "length", 1609.344),
    Unit("foot", "length", 0.3048), Unit("inch", "length", 0.0254), Unit("centimetre", "length", 0.01),
    Unit("kilogram", "mass", 1.0), Unit("gram", "mass", 0.001), Unit("pound", "mass", 0.45359237),
    Unit("ounce", "mass", 0.028349523125), Unit("tonne", "mass", 1000.0),
    Unit("litre", "volume", 1.0), Unit("millilitre", "volume", 0.001), Unit("gallon", "volume", 3.785411784),
    Unit("pint", "volume", 0.473176473),
    Unit("kilometre_per_hour", "speed", 1.0), Unit("mile_per_hour", "speed", 1.609344),
    Unit("metre_per_second", "speed", 3.6), Unit("knot", "speed", 1.852),
    Unit("celsius", "temperature", 1.0), Unit("fahrenheit", "temperature", 5 / 9, -160 / 9),
    Unit("kelvin", "temperature", 1.0, -273.15),
)  # fmt: skip
UNITS = {unit.name: unit for unit in _UNITS}


def convert(value: float, source: Unit, target: Unit) -> float:
    """``value`` of ``source`` in ``target``, to four places; both measure the same quantity."""
    return round((value * source.factor + source.offset - target.offset) / target.factor, 4)
