"""MediLex: what a medicine is for, its dose, and what it must not be taken with."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.worlds import drugs
from playground.worlds.drugs import Severity

router = APIRouter(prefix="/medilex", tags=["Health"])
_DRUG = refusals(e404="DRUG_NOT_FOUND")
NdcCode = Annotated[str, Path(description="NDC code.", examples=["NDC48211"])]


class DrugHit(BaseModel):
    """A medicine in a list."""

    ndc_code: str = Field(description="NDC code of the drug.", examples=["NDC48211"])
    drug_name: str = Field(examples=["Almovir"])
    drug_class: str = Field(examples=["antacid"])


class DrugLabel(DrugHit):
    """What is on the label."""

    indications: list[str] = Field(description="What it treats.", examples=[["heartburn"]])
    side_effects: list[str] = Field(examples=[["nausea", "rash"]])
    single_dose_mg: int = Field(description="One dose in milligrams.", examples=[250])
    max_doses_per_day: int = Field(examples=[3])
    minimum_age_years: int = Field(examples=[12])
    prescription_only: bool = Field(examples=[False])


class Interaction(BaseModel):
    """Two medicines that do not go together."""

    ndc_code: str = Field(description="The other drug.", examples=["NDC17004"])
    drug_name: str = Field(examples=["Brenzapine"])
    severity: Severity = Field(examples=["moderate"])


class Interactions(BaseModel):
    """All interactions of a medicine."""

    drug_name: str = Field(examples=["Almovir"])
    interactions: list[Interaction]


@router.get("/drugs", operation_id="drug_lookup", summary="Drug lookup.")
async def drug_lookup(
    name: Annotated[str | None, Query(min_length=3, description="Brand name.", examples=["Almovir"])] = None,
    indication: Annotated[
        str | None, Query(min_length=3, description="Condition treated.", examples=["heartburn"])
    ] = None,
) -> list[DrugHit]:
    """Drug lookup by name or indication. Returns NDC codes."""
    found = [
        drug
        for drug in drugs.drugs()
        if drug.name.casefold().startswith((name or "").strip().casefold())
        and any((indication or "").strip().casefold() in condition for condition in drug.treats)
    ]
    return [DrugHit(ndc_code=one.drug_id, drug_name=one.name, drug_class=one.kind) for one in found]


@router.get("/drugs/{ndc_code}/label", operation_id="drug_label", summary="Drug label.", responses=_DRUG)
async def drug_label(ndc_code: NdcCode) -> DrugLabel:
    """Structured product label: indications, dosage, adverse reactions (side effects), age limit."""
    drug = _drug(ndc_code)
    return DrugLabel(
        ndc_code=drug.drug_id,
        drug_name=drug.name,
        drug_class=drug.kind,
        indications=list(drug.treats),
        side_effects=list(drug.side_effects),
        single_dose_mg=drug.dose,
        max_doses_per_day=drug.per_day,
        minimum_age_years=drug.from_age,
        prescription_only=drug.prescription,
    )


@router.get(
    "/drugs/{ndc_code}/interactions", operation_id="drug_interactions", summary="Drug interactions.", responses=_DRUG
)
async def drug_interactions(
    ndc_code: NdcCode,
    severity: Annotated[Severity | None, Query(description="Only interactions of this severity.")] = None,
) -> Interactions:
    """Drug-drug interactions."""
    drug = _drug(ndc_code)
    found = [
        Interaction(ndc_code=other.drug_id, drug_name=other.name, severity=level)
        for other in drugs.drugs()
        if (level := drugs.severity(drug, other)) and severity in (None, level)
    ]
    return Interactions(drug_name=drug.name, interactions=found)


def _drug(ndc_code: str) -> drugs.Drug:
    found = drugs.drug_by_id(ndc_code)
    if found is None:
        refuse(404, f"DRUG_NOT_FOUND: {ndc_code}.")
    return found


SERVICE = Service(router, "MediLex", "Drug information. For professionals.")
