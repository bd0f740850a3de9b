"""The scholars' 44 templates: the odd ones are SoAyBench's, the even ones are in their spirit. One hop to 8, two to 30, then three."""

from collections.abc import Callable, Iterator

from playground.soay.scholar import pdf_of, venue_of
from playground.soay.template import Gold, Template, Values, each_of, most, number, text
from playground.worlds import scholars as world
from playground.worlds.scholars import Paper, Scholar

_AT = "people = await searchPerson(name=name, organization=organization)\n"
_IN = "people = await searchPerson(name=name, interest=field)\n"
_PUBS = 'pubs = await getPersonPubs(person_id=people[0]["person_id"])\n'
_INFO = 'info = await getPersonBasicInfo(person_id=people[0]["person_id"])\n'
_CO = 'coauthors = await getCoauthors(person_id=people[0]["person_id"])\n'
_PAPER = 'paper = await getPublication(pub_id=pubs[0]["pub_id"])\n'
_TITLED = "papers = await searchPublication(publication_info=title)\n"
_DETAIL = 'paper = await getPublication(pub_id=papers[0]["pub_id"])\n'
_HITS = 'hits = await asyncio.gather(*[searchPerson(name=one["name"]) for one in coauthors])\nfound = [some[0] for some in hits]\n'
_EACH_INFO = 'infos = await asyncio.gather(*[getPersonBasicInfo(person_id=one["id"]) for one in coauthors])\n'
_MOST_FOUND = 10


def _person(values: Values) -> Scholar:
    return next(one for one in world.scholars() if one.name == values["name"])


def _paper(values: Values) -> Paper:
    return next(one for one in world.papers() if one.title == values["title"])


def _pubs(values: Values) -> list[Paper]:
    """As the service lists them: the most cited first."""
    cited = world.citations()
    return sorted(world.papers_of(_person(values).person_id), key=lambda one: (-cited[one.pub_id], one.title))


def _work(values: Values) -> Paper | None:
    """The representative work: the most cited, where one is."""
    pubs, cited = _pubs(values), world.citations()
    alone = pubs and (len(pubs) == 1 or cited[pubs[0].pub_id] > cited[pubs[1].pub_id])
    return pubs[0] if alone else None


def _of_work(told: Callable[[Paper], str]) -> Callable[[Values], Gold | None]:
    """Of the representative work, and not of the others."""

    def direct(values: Values) -> Gold | None:
        paper = _work(values)
        return each_of([told(paper)], map(told, _pubs(values))) if paper else None

    return direct


def _year_of_work(values: Values) -> Gold | None:
    paper = _work(values)
    years = {str(one.year) for one in _pubs(values) if paper and one.year != paper.year}
    return Gold(numbers=(paper.year,), others=tuple(sorted(years))) if paper else None


def _of_person(told: Callable[[Scholar], Gold]) -> Callable[[Values], Gold | None]:
    return lambda values: told(_person(values))


def _of_paper(told: Callable[[Paper], Gold]) -> Callable[[Values], Gold | None]:
    return lambda values: told(_paper(values))


def _coauthors(person: Scholar) -> list[Scholar]:
    return [one for one, _ in world.coauthors_of(person.person_id)]


def _names(people: list[Scholar]) -> list[str]:
    return [one.name for one in people]


def _staff(values: Values) -> list[Scholar]:
    """All of an organisation, where a search gives them all."""
    found = [one for one in world.scholars() if one.organization.name == values["organization"]]
    return found if len(found) <= _MOST_FOUND else []


def _at() -> Iterator[Values]:
    for one in world.scholars():
        yield {"name": one.name, "organization": one.organization.name}


def _in() -> Iterator[Values]:
    for one in world.scholars():
        yield {"name": one.name, "field": one.interests[0]}


def _organizations() -> Iterator[Values]:
    for name in dict.fromkeys(one.organization.name for one in world.scholars()):
        yield {"organization": name}


def _organization_and_field() -> Iterator[Values]:
    for one in world.scholars():
        yield {"organization": one.organization.name, "field": one.interests[-1]}


def _organization_of_coauthor() -> Iterator[Values]:
    for one in world.scholars():
        for other in _coauthors(one)[:1]:
            yield {"organization": other.organization.name, "name": one.name}


def _at_and_field() -> Iterator[Values]:
    for values in _at():
        for other in _coauthors(_person(values))[:1]:
            yield {**values, "field": other.interests[0]}


def _in_and_organization() -> Iterator[Values]:
    for values in _in():
        for other in _coauthors(_person(values))[1:2]:
            yield {**values, "organization": other.organization.name}


def _since() -> Iterator[Values]:
    for place, values in enumerate(_at()):
        yield {**values, "year": 2012 + place % 8}


def _titles() -> Iterator[Values]:
    for one in world.papers():
        yield {"title": one.title}


def _gender(person: Scholar) -> Gold:
    women, men = ("female", "woman", "女", "女士"), ("male", "man", "男", "男士")
    right, wrong = (women, men) if person.gender == "female" else (men, women)
    return Gold(texts=(right,), others=wrong)


def _position(person: Scholar) -> Gold:
    return each_of([person.position], sorted({one.position for one in world.scholars()}))


def _with_first(paper: Paper) -> Gold:
    """The collaborators of the first author, and not those of the others."""
    people = [other for author in paper.authors for other in _coauthors(author)]
    first = paper.authors[0]
    return each_of(_names(_coauthors(first)), [one.name for one in people if one is not first])


def _topical(values: Values) -> Gold:
    people = _coauthors(_person(values))
    return each_of(_names([one for one in people if values["field"] in one.interests]), _names(people))


def _colleagues(values: Values) -> Gold:
    people = _coauthors(_person(values))
    return each_of(_names([one for one in people if one.organization.name == values["organization"]]), _names(people))


def _among_staff(values: Values) -> Gold | None:
    return _colleagues(values) if _staff(values) else None


def _researchers(values: Values) -> Gold:
    people = _staff(values)
    return each_of(_names([one for one in people if values["field"] in one.interests]), _names(people))


def _further(values: Values) -> Gold | None:
    """The collaborators of collaborators; whoever is asked about is one of them, and need not be told."""
    person = _person(values)
    people = {name for one in _coauthors(person) for name in _names(_coauthors(one))} - {person.name}
    return each_of(sorted(people)) if len(_coauthors(person)) <= 4 else None


def _latest(values: Values) -> Gold | None:
    years = [(one.year, one.title) for one in _pubs(values)]
    return most(years) if years else None


def _by(rank: Callable[[Scholar], float], *, least: bool = False) -> Callable[[Values], Gold | None]:
    return lambda values: most([(rank(one), one.name) for one in _coauthors(_person(values))], least=least)


def _publications(person: Scholar) -> int:
    return len(world.papers_of(person.person_id))


def _cited(person: Scholar) -> int:
    return world.citations_of(person.person_id)


TEMPLATES = (
    Template(1, 1, "Research interests of {name} at {organization}", "{organization}机构的{name}的研究兴趣", _AT + 'people[0]["interest"]', _of_person(lambda one: each_of(one.interests, world.TOPICS)), _at),
    Template(2, 1, "What else does {name}, who researches in {field} field, work on?", "研究{field}领域的{name}还研究哪些领域？", _IN + '[one for one in people[0]["interest"] if one != field]', lambda values: each_of([one for one in _person(values).interests if one != values["field"]], world.TOPICS), _in),
    Template(3, 1, "Number of published papers by {name} at {organization}", "{organization}机构的{name}的发表论文数量", _AT + 'people[0]["num_pubs"]', _of_person(lambda one: number(_publications(one))), _at),
    Template(4, 1, "How many papers has {name} in {field} field published?", "{field}领域的{name}发表了多少篇论文？", _IN + 'people[0]["num_pubs"]', _of_person(lambda one: number(_publications(one))), _in),
    Template(5, 1, "Citation count of {name} who researches in {field} field", "研究{field}领域的{name}的被引用量", _IN + 'people[0]["num_citation"]', _of_person(lambda one: number(_cited(one))), _in),
    Template(6, 1, "How often have the papers of {name} at {organization} been cited?", "{organization}机构的{name}的论文被引用了多少次？", _AT + 'people[0]["num_citation"]', _of_person(lambda one: number(_cited(one))), _at),
    Template(7, 1, "Who are the researchers at {organization}?", "{organization}机构有哪些研究者", 'people = await searchPerson(organization=organization)\n[one["name"] for one in people]', lambda values: each_of(_names(_staff(values)), _names(list(world.scholars()))) if _staff(values) else None, _organizations),
    Template(8, 1, "Who at {organization} researches in {field} field?", "{organization}机构有哪些人研究{field}领域？", 'people = await searchPerson(organization=organization, interest=field)\n[one["name"] for one in people]', _researchers, _organization_and_field),
    Template(9, 2, "Who are the collaborators of {name} at {organization}?", "{organization}机构的{name}的合作者有哪些？", _AT + _CO + '[one["name"] for one in coauthors]', _of_person(lambda one: each_of(_names(_coauthors(one)))), _at),
    Template(10, 2, "With whom has {name} in {field} field written papers?", "{field}领域的{name}与哪些人合写过论文？", _IN + _CO + '[one["name"] for one in coauthors]', _of_person(lambda one: each_of(_names(_coauthors(one)))), _in),
    Template(11, 2, "Who at {organization} has a collaboration with {name}?", "{organization}机构有哪些人与{name}是合作关系？", 'people = await searchPerson(name=name)\ncoauthors = await getCoauthors(person_id=people[0]["person_id"])\nstaff = await searchPerson(organization=organization)\nnames = [one["name"] for one in staff]\n[one["name"] for one in coauthors if one["name"] in names]', _among_staff, _organization_of_coauthor),
    Template(12, 2, "How many collaborators does {name} at {organization} have?", "{organization}机构的{name}有多少位合作者？", _AT + _CO + "len(coauthors)", _of_person(lambda one: number(len(_coauthors(one)))), _at),
    Template(13, 2, "What are the papers published by {name} at {organization}?", "{organization}机构的{name}发表的论文有哪些", _AT + _PUBS + '[one["title"] for one in pubs]', lambda values: each_of([one.title for one in _pubs(values)]), _at),
    Template(14, 2, "How many papers has {name} at {organization} published since {year}?", "{year}年以来{organization}机构的{name}发表了多少篇论文？", _AT + _PUBS + 'len([one for one in pubs if one["year"] >= year])', lambda values: number(sum(one.year >= int(values["year"]) for one in _pubs(values))), _since),
    Template(15, 2, "In which year was the representative work of {name} at {organization} published?", "{organization}机构的{name}的代表作的发表年份是哪年？", _AT + _PUBS + 'pubs[0]["year"]', _year_of_work, _at),
    Template(16, 2, "What is the most recent paper of {name} at {organization}?", "{organization}机构的{name}最近发表的论文是哪一篇？", _AT + _PUBS + 'max(pubs, key=lambda one: one["year"])["title"]', _latest, _at),
    Template(17, 2, "What are the papers published by {name} in {field} field?", "{field}领域的{name}发表的论文有哪些", _IN + _PUBS + '[one["title"] for one in pubs]', lambda values: each_of([one.title for one in _pubs(values)]), _in),
    Template(18, 2, "What is the abstract of the paper {title}?", "论文{title}的摘要是什么？", _TITLED + _DETAIL + 'paper["abstract"]', _of_paper(lambda one: text(one.abstract)), _titles),
    Template(19, 2, "In which year was the representative work of {name} in {field} field published?", "{field}领域的{name}的代表作的发表年份是哪年？", _IN + _PUBS + 'pubs[0]["year"]', _year_of_work, _in),
    Template(20, 2, "Who are the authors of the paper {title}?", "论文{title}的作者有哪些？", _TITLED + _DETAIL + '[one["name"] for one in paper["author_list"]]', _of_paper(lambda one: each_of(_names(list(one.authors)))), _titles),
    Template(21, 2, "Is {name} at {organization} male or female?", "{organization}机构的{name}是男士还是女士？", _AT + _INFO + 'info["gender"]', _of_person(_gender), _at),
    Template(22, 2, "Which journal or conference was the paper {title} published in?", "论文{title}发表在哪个期刊或会议？", _TITLED + _DETAIL + 'paper["venue"]', _of_paper(lambda one: text(venue_of(one))), _titles),
    Template(23, 2, "What is the introduction of {name} at {organization}?", "{organization}机构的{name}的简介？", _AT + _INFO + 'info["bio"]', _of_person(lambda one: text(one.bio)), _at),
    Template(24, 2, "How many citations does the paper {title} have?", "论文{title}的被引用量是多少？", _TITLED + _DETAIL + 'paper["num_citation"]', _of_paper(lambda one: number(world.citations()[one.pub_id])), _titles),
    Template(25, 2, "What is the email of {name} at {organization}?", "{organization}机构的{name}的邮箱是？", _AT + _INFO + 'info["email"]', _of_person(lambda one: text(one.email)), _at),
    Template(26, 2, "Which email address does {name} in {field} field have?", "{field}领域的{name}的邮箱是？", _IN + _INFO + 'info["email"]', _of_person(lambda one: text(one.email)), _in),
    Template(27, 2, "What is the title of {name} in {field} field?", "{field}领域的{name}的职称是？", _IN + _INFO + 'info["position"]', _of_person(_position), _in),
    Template(28, 2, "What position does {name} hold at {organization}?", "{name}在{organization}机构担任什么职位？", _AT + _INFO + 'info["position"]', _of_person(_position), _at),
    Template(29, 2, "What is the educational background of {name} in {field} field?", "{field}领域的{name}的教育经历是？", _IN + _INFO + 'info["education_experience"]', _of_person(lambda one: text(one.education)), _in),
    Template(30, 2, "Where did {name} at {organization} study?", "{organization}机构的{name}在哪里读的书？", _AT + _INFO + 'info["education_experience"]', _of_person(lambda one: text(one.education, one.education.split(", ")[1])), _at),
    Template(31, 3, "Who among the collaborators of {name} at {organization} are researching in {field} field?", "{organization}机构的{name}的合作者中有哪些在研究{field}领域？", _AT + _CO + 'interests = await asyncio.gather(*[getPersonInterest(person_id=one["id"]) for one in coauthors])\n[one["name"] for one, topics in zip(coauthors, interests) if field in topics]', _topical, _at_and_field),
    Template(32, 3, "Who among the collaborators of {name} in {field} field work at {organization}?", "{field}领域的{name}的合作者中有哪些在{organization}机构工作？", _IN + _CO + _EACH_INFO + '[one["name"] for one in infos if one["organization"] == organization]', _colleagues, _in_and_organization),
    Template(33, 3, "Who has the most published papers among the collaborators of {name} at {organization}?", "{organization}机构的{name}的合作者中发表论文数量最多的是谁？", _AT + _CO + _HITS + 'max(found, key=lambda one: one["num_pubs"])["name"]', _by(_publications), _at),
    Template(34, 3, "Who among the collaborators of {name} at {organization} has published the fewest papers?", "{organization}机构的{name}的合作者中发表论文数量最少的是谁？", _AT + _CO + _HITS + 'min(found, key=lambda one: one["num_pubs"])["name"]', _by(_publications, least=True), _at),
    Template(35, 3, "Who has the highest citation count among the collaborators of {name} in {field} field?", "{field}领域的{name}的合作者中被引用量最高的是谁？", _IN + _CO + _HITS + 'max(found, key=lambda one: one["num_citation"])["name"]', _by(_cited), _in),
    Template(36, 3, "Which collaborator of {name} at {organization} is cited most often?", "{organization}机构的{name}的哪位合作者被引用最多？", _AT + _CO + _HITS + 'max(found, key=lambda one: one["num_citation"])["name"]', _by(_cited), _at),
    Template(37, 3, "Who are the collaborators of the collaborators of {name} at {organization}?", "{organization}机构的{name}的合作者有哪些合作者？", _AT + _CO + 'further = await asyncio.gather(*[getCoauthors(person_id=one["id"]) for one in coauthors])\n[other["name"] for some in further for other in some]', _further, _at),
    Template(38, 3, "What are the email addresses of the collaborators of {name} at {organization}?", "{organization}机构的{name}的合作者的邮箱分别是？", _AT + _CO + _EACH_INFO + '[one["email"] for one in infos]', _of_person(lambda one: each_of([other.email for other in _coauthors(one)])), _at),
    Template(39, 3, "What is the abstract of the representative work of {name} at {organization}?", "{organization}机构的{name}的代表作的摘要是？", _AT + _PUBS + _PAPER + 'paper["abstract"]', _of_work(lambda one: one.abstract), _at),
    Template(40, 3, "What is the abstract of the representative work of {name} in {field} field?", "{field}领域的{name}的代表作的摘要是？", _IN + _PUBS + _PAPER + 'paper["abstract"]', _of_work(lambda one: one.abstract), _in),
    Template(41, 3, "Which journal or conference included the representative work of {name} at {organization}?", "{organization}机构的{name}的代表作的被哪个期刊或会议收录？", _AT + _PUBS + _PAPER + 'paper["venue"]', _of_work(venue_of), _at),
    Template(42, 3, "What is the email of the first author of the paper {title}?", "论文{title}的第一作者的邮箱是？", _TITLED + _DETAIL + 'info = await getPersonBasicInfo(person_id=paper["author_list"][0]["person_id"])\ninfo["email"]', _of_paper(lambda one: each_of([one.authors[0].email], [other.email for other in one.authors])), _titles),
    Template(43, 3, "What is the PDF link of the representative work of {name} in {field} field?", "{field}领域的{name}的代表作的pdf链接是？", _IN + _PUBS + _PAPER + 'paper["pdf_link"]', _of_work(pdf_of), _in),
    Template(44, 3, "Who are the collaborators of the first author of the paper {title}?", "论文{title}的第一作者的合作者有哪些？", _TITLED + _DETAIL + 'coauthors = await getCoauthors(person_id=paper["author_list"][0]["person_id"])\n[one["name"] for one in coauthors]', _of_paper(_with_first), _titles),
)  # fmt: skip
