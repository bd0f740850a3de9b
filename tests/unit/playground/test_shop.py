"""The shop, its orders and the carrier."""

from typing import Any

import httpx
import pytest

from playground.worlds.goods import products
from playground.worlds.orders import past_orders
from playground.worlds.scholars import scholars
from tests.unit.playground.asking import get, post

PRODUCT = products()[0]
SENT = next(one for one in past_orders() if one.status == "shipped")
NEW: dict[str, Any] = {
    "customer": {"name": "Dagny Iversholt", "email": "dagny@oskvik.example"},
    "shipping_address": {"street": "12 Mill Lane", "city": "oskvik"},
    "items": [{"product_id": PRODUCT.product_id, "quantity": 3}, {"product_id": products()[1].product_id}],
}


async def search(client: httpx.AsyncClient, **query: Any) -> list[Any]:
    return (await get(client, "/market/products", **query))["products"]


async def test_a_deep_object_bounds_the_price(client: httpx.AsyncClient) -> None:
    every = await search(client, query="kettle")
    assert len(every) == 2
    dear = max(one["price"] for one in every)
    assert [one["price"] for one in await search(client, query="kettle", **{"filter[min_price]": dear})] == [dear]
    assert all(
        one["price"] < dear for one in await search(client, query="kettle", **{"filter[max_price]": dear - 0.01})
    )


async def test_categories_are_a_list_and_results_sorted(client: httpx.AsyncClient) -> None:
    found = await search(client, query="set", category=["kitchen", "toys"], sort="price_desc")
    assert found
    assert found == sorted(found, key=lambda one: -one["price"])
    assert await search(client, query="kettle", category=["toys"]) == []


async def test_a_product_has_the_stock_of_all_warehouses(client: httpx.AsyncClient) -> None:
    stock = await get(client, f"/market/products/{PRODUCT.product_id}/stock")
    assert stock["pieces_total"] == sum(one["pieces"] for one in stock["warehouses"]) == PRODUCT.in_stock
    page = await get(client, f"/market/products/{PRODUCT.product_id}")
    assert (page["product_name"], page["price"]) == (PRODUCT.name, PRODUCT.price)
    for one in stock["warehouses"]:
        assert (await get(client, "/atlas/search", city=one["warehouse_city"]))["count"] == 1


async def test_an_order_is_placed_and_found_again(client: httpx.AsyncClient) -> None:
    made = await post(client, "/market/orders", NEW)
    assert made["shipping_city"] == "Oskvik"
    assert made["order_total"] == round(3 * PRODUCT.price + products()[1].price, 2)
    assert made["tracking_code"] is None
    assert await get(client, f"/market/orders/{made['order_number']}") == made


async def test_past_orders_lead_to_their_parcels(client: httpx.AsyncClient) -> None:
    order = await get(client, f"/market/orders/{SENT.order_number.lower()}")
    await client.put("/_failures/track_parcel", params={"on": False})
    parcel = await get(client, f"/parcel-eye/parcels/{order['tracking_code']}")
    assert parcel["destination_city"] == order["shipping_city"]
    assert parcel["state"] == "in_transit"
    place = (await get(client, "/atlas/search", city=order["shipping_city"]))["results"][0]
    assert place["country_code"] == order["shipping_country_code"]


async def test_orders_of_a_customer_are_found_by_e_mail(client: httpx.AsyncClient) -> None:
    email = SENT.customer.email
    found = await get(client, "/market/orders", customer_email=email.upper())
    assert [one["order_number"] for one in found] == [
        one.order_number for one in past_orders() if one.customer.email == email
    ]
    nobody = next(one for one in scholars() if all(order.customer is not one for order in past_orders()))
    assert await get(client, "/market/orders", customer_email=nobody.email) == []


async def test_a_cancelled_order_stays_cancelled(client: httpx.AsyncClient) -> None:
    number = next(one for one in past_orders() if one.status == "processing").order_number
    await post(client, f"/market/orders/{number}/cancel")
    assert (await get(client, f"/market/orders/{number}"))["order_status"] == "cancelled"
    late = await client.post(f"/market/orders/{SENT.order_number}/cancel")
    assert late.status_code == 409
    assert "shipped" in late.json()["detail"]


async def test_bulky_parcels_pay_for_their_size(client: httpx.AsyncClient) -> None:
    light = await post(client, "/parcel-eye/rates", {"parcel": {"weight_kg": 1}})
    bulky = await post(
        client,
        "/parcel-eye/rates",
        {"parcel": {"weight_kg": 1, "size": {"length_cm": 50, "width_cm": 40, "height_cm": 30}}},
    )
    fast = await post(client, "/parcel-eye/rates", {"parcel": {"weight_kg": 1}, "service_level": "express"})
    assert bulky["charged_weight_kg"] == 12
    assert light["shipping_price"] < fast["shipping_price"] < bulky["shipping_price"]


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/market/products", {"query": "kettle", "filter[max_price]": "cheap"}, 400),
        ("/market/products", {"query": "kettle", "filter[colour]": "red"}, 400),
        ("/market/products", {"query": "kettle", "category": "cars"}, 422),
        ("/market/products/prd_0", {}, 404),
        ("/market/products/prd_0/stock", {}, 404),
        ("/market/orders/HM-1", {}, 404),
    ],
)
async def test_refusals_say_why(client: httpx.AsyncClient, path: str, query: dict[str, str], status: int) -> None:
    response = await client.get(path, params=query)
    assert response.status_code == status
    assert response.json()["detail"]
