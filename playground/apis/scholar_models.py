"""Response shapes of Scholar Search, as SoAy names their fields."""

from pydantic import BaseModel, Field


class PersonHit(BaseModel):
    """A scholar in a list."""

    person_id: str = Field(description="Identifier of the scholar.", examples=["8f14e45fceea167a5a36dedd"])
    name: str = Field(description="Name of the scholar.", examples=["Adela Abernathy"])
    num_citation: int = Field(description="Number of citations of all papers.", examples=[212])
    interest: list[str] = Field(description="Research interests.", examples=[["speech recognition", "game theory"]])
    num_pubs: int = Field(description="Number of publications.", examples=[5])
    organization: str = Field(description="Organisation of the scholar.", examples=["University of Velmora"])


class PublicationHit(BaseModel):
    """A paper in a list."""

    pub_id: str = Field(description="Identifier of the paper.", examples=["c9f0f895fb98ab9159f51fd0"])
    title: str = Field(description="Title of the paper.", examples=["Rethinking Solar Cells"])
    year: int = Field(description="Year of publication.", examples=[2019])


class Coauthor(BaseModel):
    """Someone a scholar wrote with."""

    id: str = Field(description="Identifier of the co-author (a person_id).", examples=["45c48cce2e2d7fbdea1afc51"])
    name: str = Field(description="Name of the co-author.", examples=["Anselm Blomkvist"])
    relation: str = Field(description="How they are related.", examples=["coauthor of 2 papers"])


class PersonPub(BaseModel):
    """A paper of a scholar."""

    authors_name_list: list[str] = Field(
        description="Names of all authors, in order.", examples=[["Adela Abernathy", "Anselm Blomkvist"]]
    )
    pub_id: str = Field(description="Identifier of the paper.", examples=["c9f0f895fb98ab9159f51fd0"])
    title: str = Field(description="Title of the paper.", examples=["Rethinking Solar Cells"])
    num_citation: int = Field(description="Number of citations of the paper.", examples=[31])
    year: int = Field(description="Year of publication.", examples=[2019])


class PersonBasicInfo(BaseModel):
    """The profile of a scholar."""

    person_id: str = Field(description="Identifier of the scholar.", examples=["8f14e45fceea167a5a36dedd"])
    name: str = Field(description="Name of the scholar.", examples=["Adela Abernathy"])
    gender: str = Field(description="Gender of the scholar.", examples=["female"])
    organization: str = Field(description="Organisation of the scholar.", examples=["University of Velmora"])
    position: str = Field(description="Position there.", examples=["Professor"])
    bio: str = Field(
        description="Short biography.", examples=["Adela Abernathy is Professor at University of Velmora."]
    )
    education_experience: str = Field(
        description="Degrees and where they were taken.", examples=["PhD, Oskvik Polytechnic, 1998"]
    )
    email: str = Field(description="E-mail address.", examples=["adela.abernathy@velmora.example"])


class PaperAuthor(BaseModel):
    """An author of a paper."""

    person_id: str = Field(description="Identifier of the author.", examples=["8f14e45fceea167a5a36dedd"])
    name: str = Field(description="Name of the author.", examples=["Adela Abernathy"])
    organization: str = Field(description="Organisation of the author.", examples=["University of Velmora"])


class PublicationDetails(BaseModel):
    """A paper in detail."""

    abstract: str = Field(description="Abstract of the paper.", examples=["We study solar cells."])
    author_list: list[PaperAuthor] = Field(description="The authors, in order.")
    num_citation: int = Field(description="Number of citations of the paper.", examples=[31])


class Institution(BaseModel):
    """A university or research institution."""

    organization: str = Field(description="Name of the organisation.", examples=["University of Velmora"])
    city: str = Field(description="City where it is.", examples=["Velmora"])
    country: str = Field(description="Country where it is.", examples=["Veldania"])
    founded: int = Field(description="Year of its foundation.", examples=[1611])
    num_scholars: int = Field(description="How many scholars work there.", examples=[11])
