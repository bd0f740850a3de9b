"""The address book: some of the scholars, with their telephones and where they are."""

from dataclasses import dataclass
from functools import cache

from playground.worlds import chance
from playground.worlds.scholars import Scholar, scholars


@dataclass(frozen=True, slots=True)
class Contact:
    contact_id: str
    person: Scholar
    phone: str

    @property
    def name(self) -> str:
        return self.person.name


@cache
def contacts() -> tuple[Contact, ...]:
    """All contacts; names are unique."""
    return tuple(_contact(person) for person in scholars()[::2])


def contact_by_id(contact_id: str) -> Contact | None:
    """The contact of that identifier."""
    return next((one for one in contacts() if one.contact_id == contact_id), None)


def contacts_named(text: str) -> list[Contact]:
    """The contacts whose name holds all words of a text, in order of name."""
    wanted = set(text.casefold().split())
    return sorted((one for one in contacts() if wanted <= set(one.name.casefold().split())), key=lambda one: one.name)


def _contact(person: Scholar) -> Contact:
    prefix = person.organization.city.country.calling_code
    number = chance.between(10**6, 10**7 - 1, "phone", person.name)
    return Contact(f"con_{chance.identifier(8, 'contact', person.name)}", person, f"{prefix} {number}")
