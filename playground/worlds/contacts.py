"""The address book: some of the scholars, with their telephones and where they are."""

from dataclasses import dataclass
from functools import cache

from playground.worlds import chance
from playground.worlds.people import organizations
from playground.worlds.scholars import Scholar, scholars


@dataclass(frozen=True, slots=True)
class Contact:
    contact_id: str
    person: Scholar
    phone: str

    @property
    def name(self) -> str:
        return self.person.name


_NAMESAKES = (
    ("Oswin Brennick", 3), ("Ileana Brennick", 2), ("Dagmar Sorrel", 3), ("Corwin Halloway", 2),
)  # fmt: skip
"""Names that several people in the address book have, with how many have each."""


@cache
def contacts() -> tuple[Contact, ...]:
    """The contacts whose names are unique."""
    return tuple(_contact(person) for person in scholars()[::2])


@cache
def namesakes() -> tuple[Contact, ...]:
    """The contacts that share their name with another one: a name alone does not say who is meant."""
    return tuple(_namesake(name, number) for name, count in _NAMESAKES for number in range(count))


def contact_by_id(contact_id: str) -> Contact | None:
    """The contact of that identifier."""
    return next((one for one in (*contacts(), *namesakes()) if one.contact_id == contact_id), None)


def contacts_named(text: str) -> list[Contact]:
    """The contacts whose name holds all words of a text, in order of name."""
    wanted = set(text.casefold().split())
    found = [one for one in (*contacts(), *namesakes()) if wanted <= set(one.name.casefold().split())]
    return sorted(found, key=lambda one: one.name)


def _contact(person: Scholar) -> Contact:
    prefix = person.organization.city.country.calling_code
    number = chance.between(10**6, 10**7 - 1, "phone", person.name)
    return Contact(f"con_{chance.identifier(8, 'contact', person.name)}", person, f"{prefix} {number}")


def _namesake(name: str, number: int) -> Contact:
    """Each lives elsewhere and works for another organisation; no scholar is so called."""
    start = chance.between(0, len(organizations()) - 1, "namesakes", name)
    organization = organizations()[(start + 7 * number) % len(organizations())]
    key = f"{name} {number}"
    person = Scholar(
        person_id=chance.identifier(24, "namesake", key), name=name, gender="",
        organization=organization, position="Professor", interests=(), education="",
    )  # fmt: skip
    phone = chance.between(10**6, 10**7 - 1, "phone", key)
    return Contact(
        f"con_{chance.identifier(8, 'contact', key)}", person, f"{organization.city.country.calling_code} {phone}"
    )
