"""Harbour Market: what the shop sells."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from playground.apis.service import Service, refusals, refuse
from playground.worlds import goods
from playground.worlds.goods import Product

router = APIRouter(prefix="/market", tags=["Shopping"])
Category = Literal["electronics", "garden", "kitchen", "office", "toys", "travel"]
Order = Literal["relevance", "price_asc", "price_desc", "rating"]
_PRODUCT = refusals(e404="No product has this identifier.")
ProductId = Annotated[str, Path(description="Identifier of the product.", examples=["prd_0f3a91c2"])]


class Filter(BaseModel):
    """Bounds of a search."""

    model_config = ConfigDict(extra="forbid")

    min_price: float | None = Field(None, ge=0, description="Lowest price.")
    max_price: float | None = Field(None, ge=0, description="Highest price.")
    in_stock: bool | None = Field(None, description="Only products that can be sent at once.")


class ProductHit(BaseModel):
    """A product in a list."""

    product_id: str = Field(description="Identifier of the product.", examples=["prd_0f3a91c2"])
    product_name: str = Field(description="Name of the product.", examples=["Cobalt Copper Kettle"])
    price: float = Field(description="Price of one piece, in AFP.", examples=[38.4])
    rating: float = Field(description="Mean rating of the customers, from 0 to 5.", examples=[4.2])


class ProductHits(BaseModel):
    """Products found."""

    total: int = Field(description="How many products match.", examples=[2])
    products: list[ProductHit]


class ProductDetails(ProductHit):
    """A product."""

    category: str = Field(description="Department.", examples=["kitchen"])
    currency_code: str = Field(description="Currency of the price.", examples=["AFP"])
    weight_kg: float = Field(description="Weight of one piece in kilograms.", examples=[1.35])
    warranty_months: int = Field(description="Months of warranty.", examples=[24])


class StockLine(BaseModel):
    """What lies in one warehouse."""

    warehouse_code: str = Field(description="Code of the warehouse.", examples=["WH-N"])
    warehouse_city: str = Field(description="City where it is.", examples=["Ilsenau"])
    pieces: int = Field(description="Pieces in stock.", examples=[17])


class Stock(BaseModel):
    """What lies in all of them."""

    product_id: str = Field(description="Identifier of the product.", examples=["prd_0f3a91c2"])
    pieces_total: int = Field(description="Pieces in all warehouses together.", examples=[31])
    warehouses: list[StockLine]


def _bounds(request: Request) -> Filter:
    given = {key[7:-1]: value for key, value in request.query_params.items() if key.startswith("filter[")}
    try:
        return Filter.model_validate(given)
    except ValidationError as error:
        refuse(400, f"filter: {error.errors()[0]['loc'][0]}: {error.errors()[0]['msg']}.")


_FILTER: dict[str, Any] = {
    "parameters": [
        {
            "name": "filter",
            "in": "query",
            "required": False,
            "style": "deepObject",
            "explode": True,
            "description": "Bounds, as filter[max_price]=20.",
            "schema": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "min_price": {"type": "number", "minimum": 0, "description": "Lowest price in AFP."},
                    "max_price": {"type": "number", "minimum": 0, "description": "Highest price in AFP."},
                    "in_stock": {"type": "boolean", "description": "Only products that can be sent at once."},
                },
            },
            "example": {"max_price": 20},
        }
    ]
}


@router.get(
    "/products",
    operation_id="search_products",
    summary="Search the shop",
    responses=refusals(e400="A bound of the filter is not valid."),
    openapi_extra=_FILTER,
)
async def search_products(
    query: Annotated[str, Query(min_length=2, description="What to look for.", examples=["copper kettle"])],
    bounds: Annotated[Filter, Depends(_bounds)],
    category: Annotated[list[Category] | None, Query(description="Departments.", examples=[["kitchen"]])] = None,
    sort: Annotated[Order, Query(description="Order of the results.")] = "relevance",
) -> ProductHits:
    """Full-text search over the products of the shop. Combine `category` (repeatable), `filter` and `sort` as you
    like. Prices are in Ashford pounds (AFP).
    """
    wanted = set(query.casefold().split())
    found = [one for one in goods.products() if wanted <= set(one.name.casefold().split()) and _within(one, bounds)]
    chosen = [one for one in found if not category or one.category in category]
    chosen.sort(key=lambda one: _rank(one, sort))
    return ProductHits(total=len(chosen), products=[_hit(one) for one in chosen[:20]])


@router.get("/products/{product_id}", operation_id="get_product", summary="Product page", responses=_PRODUCT)
async def get_product(product_id: ProductId) -> ProductDetails:
    """Everything on the product page: price, department, weight, rating and warranty."""
    product = known_product(product_id)
    return ProductDetails(
        **_hit(product).model_dump(),
        category=product.category,
        currency_code=goods.CURRENCY,
        weight_kg=product.weight,
        warranty_months=product.warranty_months,
    )


@router.get("/products/{product_id}/stock", operation_id="check_stock", summary="Availability", responses=_PRODUCT)
async def check_stock(product_id: ProductId) -> Stock:
    """How many pieces of a product are in stock, by warehouse."""
    product = known_product(product_id)
    lines = [
        StockLine(warehouse_code=one.code, warehouse_city=one.city.name, pieces=product.stock(one))
        for one in goods.warehouses()
    ]
    return Stock(product_id=product_id, pieces_total=product.in_stock, warehouses=lines)


def known_product(product_id: str) -> Product:
    """The product of an identifier, or 404."""
    found = goods.product_by_id(product_id)
    if found is None:
        refuse(404, f"No such product: {product_id}.")
    return found


def _within(product: Product, bounds: Filter) -> bool:
    return (
        (bounds.min_price is None or product.price >= bounds.min_price)
        and (bounds.max_price is None or product.price <= bounds.max_price)
        and (bounds.in_stock is None or (product.in_stock > 0) == bounds.in_stock)
    )


def _rank(product: Product, order: Order) -> tuple[float, str]:
    ranks = {"price_asc": product.price, "price_desc": -product.price, "rating": -product.rating}
    return ranks.get(order, 0.0), product.name


def _hit(product: Product) -> ProductHit:
    return ProductHit(
        product_id=product.product_id, product_name=product.name, price=product.price, rating=product.rating
    )


SERVICE = Service(router, "Harbour Market", "A department store on the quay: products, prices and stock.")
