"""What the shop sells, and the warehouses where it lies."""

from dataclasses import dataclass
from functools import cache

from playground.worlds import chance
from playground.worlds.geography import City, city_named

CURRENCY = "AFP"
_GOODS = {
    "electronics": ("Pocket Radio", "Desk Lamp", "Travel Adapter", "Night Camera", "Weather Clock", "Reading Light"),
    "garden": ("Watering Can", "Pruning Shears", "Bird Feeder", "Seed Box", "Rain Barrel", "Garden Fork"),
    "kitchen": ("Copper Kettle", "Bread Knife", "Coffee Mill", "Spice Rack", "Soup Pot", "Salad Bowl"),
    "office": ("Fountain Pen", "Paper Tray", "Wall Planner", "Desk Globe", "Letter Scale", "Map Case"),
    "toys": ("Wooden Train", "Puppet Theatre", "Spinning Top", "Kite Set", "Marble Run", "Rocking Horse"),
    "travel": ("Canvas Rucksack", "Sea Chest", "Field Compass", "Camp Stove", "Wool Blanket", "Rain Cape"),
}
_MAKES = ("Aldous", "Birchline", "Cobalt", "Driftmark")
CATEGORIES = tuple(_GOODS)


@dataclass(frozen=True, slots=True)
class Warehouse:
    code: str
    city: City


@dataclass(frozen=True, slots=True)
class Product:
    """``price`` in :data:`CURRENCY`, ``weight`` in kilograms."""

    product_id: str
    name: str
    category: str
    price: float
    weight: float
    rating: float
    warranty_months: int

    def stock(self, warehouse: Warehouse) -> int:
        """Pieces that lie in a warehouse."""
        return max(0, chance.between(-6, 40, "stock", self.product_id, warehouse.code))

    @property
    def in_stock(self) -> int:
        """Pieces that lie in all warehouses together."""
        return sum(self.stock(warehouse) for warehouse in warehouses())


@cache
def warehouses() -> tuple[Warehouse, ...]:
    """The three of them."""
    places = (("WH-N", "Ilsenau"), ("WH-S", "Serravento"), ("WH-E", "Baiyuan"))
    found = [(code, city_named(name)) for code, name in places]
    return tuple(Warehouse(code, city) for code, city in found if city is not None)


@cache
def products() -> tuple[Product, ...]:
    """All products; names are unique."""
    return tuple(
        _product(f"{make} {thing}", category)
        for category, things in _GOODS.items()
        for place, thing in enumerate(things)
        for make in chance.several(_MAKES, 2, "makes", category, place)
    )


def product_by_id(product_id: str) -> Product | None:
    """The product of that identifier."""
    return next((one for one in products() if one.product_id == product_id), None)


def _product(name: str, category: str) -> Product:
    return Product(
        product_id=f"prd_{chance.identifier(8, 'product', name)}",
        name=name,
        category=category,
        price=round(3 + 240 * chance.unit("price", name) ** 2, 2),
        weight=round(0.1 + 8 * chance.unit("weight", name) ** 2, 2),
        rating=round(2.5 + 2.5 * chance.unit("stars", name), 1),
        warranty_months=12 * chance.between(0, 5, "warranty", name),
    )
