"""Medicines that do not exist, for whom they are not, and which do not go together."""

from dataclasses import dataclass
from functools import cache
from typing import Literal

from playground.worlds import chance
from playground.worlds.chance import words

_NAMES = words(
    "Almovir Brenzapine Cortelan Dravostat Elixacin Fenorol Glymepta Hexadol Istravan Jovetrine Klaritram Lumodipine "
    "Mirtavel Noxaprin Orvastin Pelumab Quintasol Rovelide Serpadine Tavorexin Ulcetrin Velofenac Warfolex Zolpentil"
)
_CLASSES = {
    "pain reliever": ("headache", "back pain", "fever"),
    "antibiotic": ("bronchitis", "sinusitis", "cystitis"),
    "antihypertensive": ("high blood pressure", "heart failure"),
    "antihistamine": ("hay fever", "hives"),
    "antacid": ("heartburn", "stomach ulcer"),
    "anticoagulant": ("thrombosis", "atrial fibrillation"),
}
_EFFECTS = ("nausea", "dizziness", "dry mouth", "drowsiness", "rash", "insomnia", "constipation")
Severity = Literal["minor", "moderate", "major"]
SEVERITIES: tuple[Severity, ...] = ("minor", "moderate", "major")


@dataclass(frozen=True, slots=True)
class Drug:
    """``dose`` in milligrams, ``per_day`` at most; ``from_age`` in years."""

    drug_id: str
    name: str
    kind: str
    treats: tuple[str, ...]
    side_effects: tuple[str, ...]
    dose: int
    per_day: int
    from_age: int
    prescription: bool


@cache
def drugs() -> tuple[Drug, ...]:
    """All medicines; names are unique."""
    return tuple(_drug(place, name) for place, name in enumerate(_NAMES))


def drug_by_id(drug_id: str) -> Drug | None:
    """The medicine of that identifier."""
    return next((drug for drug in drugs() if drug.drug_id == drug_id.upper()), None)


def severity(one: Drug, other: Drug) -> Severity | None:
    """How bad it is to take both: one of ``SEVERITIES``, or nothing. The order does not matter."""
    if one is other:
        return None
    level = chance.between(0, 6, "interaction", *sorted((one.name, other.name)))
    return SEVERITIES[level] if level < len(SEVERITIES) else None


def _drug(place: int, name: str) -> Drug:
    kind = sorted(_CLASSES)[place % len(_CLASSES)]
    return Drug(
        drug_id=f"NDC{chance.between(10_000, 99_999, 'drug', name)}",
        name=name,
        kind=kind,
        treats=_CLASSES[kind],
        side_effects=tuple(sorted(chance.several(_EFFECTS, chance.between(2, 4, "effects", name), "which", name))),
        dose=25 * chance.between(1, 24, "dose", name),
        per_day=chance.between(1, 4, "per day", name),
        from_age=chance.pick((2, 6, 12, 18), "age", name),
        prescription=kind not in ("pain reliever", "antacid", "antihistamine"),
    )
