"""Steps that many searches share: a name to what is known of it."""

from typing import Any

from playground.session import Session

Found = dict[str, Any]


def place(session: Session, city: str) -> Found:
    """A city by its name."""
    return session.call("search_places", city=city)["results"][0]


def company_profile(session: Session, company: str) -> Found:
    """A company by its name: two calls."""
    found = session.call("find_company", name=company)["items"][0]
    return session.call("get_company_profile", company_id=found["company_id"])


def symbol_of(session: Session, company: str) -> str:
    """The ticker symbol of a company."""
    return session.call("lookup_symbol", company=company)[0]["symbol"]


def product_id(session: Session, product: str) -> str:
    """The identifier of a product."""
    return session.call("search_products", query=product)["products"][0]["product_id"]


def contact_id(session: Session, name: str) -> str:
    """The identifier of somebody in the address book."""
    return session.call("find_contact", name=name)[0]["contact_id"]


def contact_card(session: Session, name: str) -> Found:
    """Somebody in the address book: two calls."""
    return session.call("get_contact", contact_id=contact_id(session, name))


def event(session: Session, title: str) -> Found:
    """An event of the calendar: two calls."""
    found = session.call("list_events", text=title)["events"][0]
    return session.call("get_event", event_id=found["event_id"])


def article(session: Session, headline: str) -> Found:
    """An article by its headline: two calls."""
    found = session.call("search_news", q=headline)[0]
    return session.call("get_article", article_id=found["article_id"])
