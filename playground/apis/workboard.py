"""WorkBoard: jobs, who offers them, and applications."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field

from playground.apis.service import Service, refusals, refuse
from playground.apis.shapes import CamelBody
from playground.state import record_effect, state_of
from playground.worlds import vacancies
from playground.worlds.vacancies import Employment

router = APIRouter(prefix="/workboard/v1", tags=["Jobs"])
_JOB = refusals(e404="The job is not (or no longer) listed.")
JobId = Annotated[str, Path(alias="jobId", description="Job ID from the search.", examples=["JB77AA01D"])]


class JobTeaser(CamelBody):
    """A job in a list."""

    job_id: str = Field(description="Job ID.", examples=["JB77AA01D"])
    title: str = Field(examples=["Senior Data Engineer"])
    location: str = Field(description="City of the office.", examples=["Velmora"])
    remote: bool = Field(examples=[False])
    posted_on: str = Field(examples=["2026-04-29"])


class Paging(CamelBody):
    """Where we are in the list."""

    page: int = Field(examples=[1])
    per_page: int = Field(examples=[10])
    total_jobs: int = Field(examples=[3])


class JobList(CamelBody):
    """A page of jobs."""

    jobs: list[JobTeaser]
    paging: Paging


class Salary(CamelBody):
    """What a job pays in a year."""

    min: int = Field(examples=[412000])
    max: int = Field(examples=[501000])
    currency: str = Field(examples=["VDK"])


class JobAd(JobTeaser):
    """A job in full."""

    employer_id: int = Field(description="ID of the hiring company on WorkBoard.", examples=[4200])
    company_name: str = Field(description="Name of the hiring company.", examples=["Kestrelon Foods"])
    employment_type: Employment = Field(examples=["full_time"])
    salary: Salary
    skills: list[str] = Field(examples=[["Python", "SQL"]])


class Employer(CamelBody):
    """A hiring company."""

    employer_id: int = Field(examples=[4200])
    company_name: str = Field(examples=["Kestrelon Foods"])
    industry: str = Field(examples=["food"])
    headquarters_city: str = Field(examples=["Tarnholm"])
    headquarters_country: str = Field(examples=["Veldania"])
    employees: int = Field(examples=[12400])
    open_jobs: int = Field(description="Number of jobs listed now.", examples=[5])


class ApplicationForm(CamelBody):
    """Who applies."""

    applicant_name: str = Field(min_length=3, description="Full name.", examples=["Dagny Aldermoor"])
    email: str = Field(pattern=r"^[^@\s]+@[^@\s]+$", description="E-mail address.", examples=["dagny@velmora.example"])
    cover_letter: str | None = Field(default=None, max_length=2000, description="Why you?", examples=["I like data."])


class Application(CamelBody):
    """An application that was sent."""

    application_id: str = Field(examples=["APP-0001"])
    job_id: str = Field(examples=["JB77AA01D"])
    title: str = Field(examples=["Senior Data Engineer"])
    status: str = Field(examples=["submitted"])


@router.get("/jobs", operation_id="searchJobs", summary="Job search")
async def search_jobs(
    keywords: Annotated[str | None, Query(description="Words of the job title.", examples=["data engineer"])] = None,
    location: Annotated[str | None, Query(description="City or country.", examples=["Velmora"])] = None,
    employment_type: Annotated[
        list[Employment] | None, Query(alias="employmentType", description="Any of these types.")
    ] = None,
    remote_only: Annotated[
        bool, Query(alias="remoteOnly", description="Only jobs that can be done from home.")
    ] = False,
    page: Annotated[int, Query(ge=1, le=50, description="Page number.")] = 1,
) -> JobList:
    """Search vacancies by title, place and type of contract; newest first, ten a page. Your dream job is out there!"""
    words = set((keywords or "").casefold().split())
    place = (location or "").strip().casefold()
    found = [
        _teaser(job)
        for job in vacancies.jobs()
        if words <= set(job.title.casefold().split())
        and place in ("", job.city.name.casefold(), job.city.country.name.casefold())
        and (not employment_type or job.employment in employment_type)
        and (job.remote or not remote_only)
    ]
    paging = Paging(page=page, per_page=10, total_jobs=len(found))
    return JobList(jobs=found[10 * (page - 1) : 10 * page], paging=paging)


@router.get("/jobs/{jobId}", operation_id="getJob", summary="Job details", responses=_JOB)
async def get_job(job_id: JobId) -> JobAd:
    """The full ad: company, contract, yearly salary range and required skills."""
    job = _job(job_id)
    return JobAd(
        **_teaser(job).model_dump(),
        employer_id=vacancies.employer_id(job.company),
        company_name=job.company.name,
        employment_type=job.employment,
        salary=Salary(min=job.salary[0], max=job.salary[1], currency=job.city.country.currency),
        skills=list(job.skills),
    )


@router.get(
    "/employers/{employerId}",
    operation_id="getEmployer",
    summary="Employer profile",
    responses=refusals(e404="No employer has this ID."),
)
async def get_employer(
    employer_id: Annotated[int, Path(alias="employerId", description="Employer ID from a job.", examples=[4200])],
) -> Employer:
    """Who is hiring? Industry, headquarters, number of employees and of open jobs."""
    company = vacancies.employer(employer_id)
    if company is None:
        refuse(404, f"No employer has the ID {employer_id}.")
    return Employer(
        employer_id=employer_id,
        company_name=company.name,
        industry=company.sector,
        headquarters_city=company.headquarters.name,
        headquarters_country=company.headquarters.country.name,
        employees=company.employees,
        open_jobs=sum(job.company is company for job in vacancies.jobs()),
    )


@router.post(
    "/jobs/{jobId}/applications",
    operation_id="applyForJob",
    summary="Apply for a job",
    responses=_JOB | refusals(e409="This address has applied before."),
)
async def apply_for_job(request: Request, job_id: JobId, form: ApplicationForm) -> Application:
    """Submits an application. One per job and e-mail address."""
    job = _job(job_id)
    kept = state_of(request).table(Application)
    key = f"{job.job_id} {form.email.casefold()}"
    if key in kept:
        refuse(409, f"{form.email} has applied for {job.job_id} before.")
    effect = record_effect(request, {"jobId": job.job_id, **form.model_dump(mode="json", by_alias=True)})
    kept[key] = Application(
        application_id=f"APP-{effect.at_seq:04}", job_id=job.job_id, title=job.title, status="submitted"
    )
    return kept[key]


def _job(job_id: str) -> vacancies.Job:
    found = vacancies.job_by_id(job_id)
    if found is None:
        refuse(404, f"Job {job_id} is not listed.")
    return found


def _teaser(job: vacancies.Job) -> JobTeaser:
    return JobTeaser(
        job_id=job.job_id,
        title=job.title,
        location=job.city.name,
        remote=job.remote,
        posted_on=job.posted.isoformat(),
    )


SERVICE = Service(router, "WorkBoard", "180 open jobs at 30 great companies. Apply with one click.")
