"""Citewell's 22 templates."""

from collections.abc import Callable, Iterator

from playground.soay import works_world as world
from playground.soay.template import Gold, Template, Values, each_of, most, number, text
from playground.soay.works_world import Funder, Journal, Work

_WORK = "works = await searchWorks(title=title)\n"
_DETAIL = 'work = await getWork(doi=works["items"][0]["doi"])\n'
_JOURNAL = "journals = await searchJournals(title=journal)\n"
_PUBLISHED = 'works = await getJournalWorks(issn=journals["items"][0]["issn"])\n'
_FUNDER = "funders = await searchFunders(name=funder)\n"
_FUNDED = 'works = await getFunderWorks(funder_id=funders["items"][0]["funder_id"])\n'


def _work(values: Values) -> Work:
    return next(one for one in world.works() if one.title == values["title"])


def _journal(values: Values) -> Journal:
    return next(one for one in world.journals() if one.title == values["journal"])


def _funder(values: Values) -> Funder:
    return next(one for one in world.funders() if one.name == values["funder"])


def _of_work(told: Callable[[Work], Gold | None]) -> Callable[[Values], Gold | None]:
    return lambda values: told(_work(values))


def _of_journal(told: Callable[[Journal], Gold | None]) -> Callable[[Values], Gold | None]:
    return lambda values: told(_journal(values))


def _of_funder(told: Callable[[Funder], Gold | None]) -> Callable[[Values], Gold | None]:
    return lambda values: told(_funder(values))


def _best(owner: Journal | Funder) -> Work | None:
    """The most cited of its works, where one is."""
    works, cited = world.works_of(owner), world.citations()
    return works[0] if len(works) > 1 and cited[works[0].doi] > cited[works[1].doi] else None


def _of_best(
    told: Callable[[Work], Gold], named: Callable[[Values], Journal | Funder]
) -> Callable[[Values], Gold | None]:
    """Of the most cited work of its owner."""

    def direct(values: Values) -> Gold | None:
        best = _best(named(values))
        return told(best) if best else None

    return direct


def _abstract(work: Work) -> Gold:
    """Its abstract, and not those of the other works of its journal."""
    return each_of([work.abstract], [one.abstract for one in world.works_of(work.journal)])


def _licence(work: Work) -> Gold:
    return each_of([work.licence], world.LICENCES)


def _titles(works: list[Work], among: list[Work] | None = None) -> Gold:
    return each_of([one.title for one in works], [one.title for one in among or []])


def _by_citations(owner: Journal | Funder) -> Gold:
    return most((world.citations()[one.doi], one.title) for one in world.works_of(owner))


def _supporters(work: Work) -> Gold:
    return each_of([one.name for one in work.funders], [one.name for one in world.funders()])


def _cites(work: Work) -> Gold:
    titles = {one.doi: one.title for one in world.works()}
    return each_of(titles[one] for one in work.references)


def _of_its_funder(work: Work) -> Gold | None:
    return _titles([one for one in world.works_of(work.funders[0]) if one != work]) if len(work.funders) == 1 else None


def _covering(values: Values) -> Gold:
    found = [one.title for one in world.journals() if values["subject"] in one.subjects]
    return each_of(found, [one.title for one in world.journals()])


def _open(values: Values) -> Gold:
    found = [one for one in world.journals() if values["subject"] in one.subjects]
    return each_of([one.title for one in found if one.open_access], [one.title for one in found])


def _since(values: Values) -> Gold:
    return number(sum(one.year >= int(values["year"]) for one in world.works_of(_funder(values))))


def _works() -> Iterator[Values]:
    for one in world.works():
        yield {"title": one.title}


def _journals() -> Iterator[Values]:
    for one in world.journals():
        yield {"journal": one.title}


def _funders() -> Iterator[Values]:
    for one in world.funders():
        yield {"funder": one.name}


def _subjects() -> Iterator[Values]:
    for one in world.SUBJECTS:
        yield {"subject": one}


def _funders_and_years() -> Iterator[Values]:
    for place, one in enumerate(world.funders()):
        yield {"funder": one.name, "year": 2006 + place % 14}


TEMPLATES = (
    Template(1, 1, "How often has the work '{title}' been cited?", "作品《{title}》被引用了多少次？", _WORK + 'works["items"][0]["cited_by"]', _of_work(lambda one: number(world.citations()[one.doi])), _works),
    Template(2, 1, "In which year was the work '{title}' published?", "作品《{title}》是哪一年发表的？", _WORK + 'works["items"][0]["year"]', _of_work(lambda one: number(one.year)), _works),
    Template(3, 1, "Who publishes the journal {journal}?", "期刊{journal}由哪家出版社出版？", _JOURNAL + 'journals["items"][0]["publisher"]', _of_journal(lambda one: each_of([one.publisher], world.PUBLISHERS)), _journals),
    Template(4, 1, "Which journals cover the subject {subject}?", "哪些期刊涵盖{subject}学科？", 'journals = await searchJournals(subject=subject)\n[one["title"] for one in journals["items"]]', _covering, _subjects),
    Template(5, 1, "In which country is the funder {funder} based?", "资助机构{funder}位于哪个国家？", _FUNDER + 'funders["items"][0]["country"]', _of_funder(lambda one: text(one.country.name)), _funders),
    Template(6, 1, "Who wrote the work '{title}'?", "作品《{title}》的作者是谁？", _WORK + 'works["items"][0]["authors"]', _of_work(lambda one: each_of(one.authors)), _works),
    Template(7, 1, "Which journals on {subject} are open access?", "哪些{subject}学科的期刊是开放获取的？", 'journals = await searchJournals(subject=subject)\n[one["title"] for one in journals["items"] if one["open_access"]]', _open, _subjects),
    Template(8, 1, "Since when has the funder {funder} existed?", "资助机构{funder}成立于哪一年？", _FUNDER + 'funders["items"][0]["founded"]', _of_funder(lambda one: number(one.founded)), _funders),
    Template(9, 2, "Under which licence was the work '{title}' published?", "作品《{title}》采用什么许可协议？", _WORK + _DETAIL + 'work["licence"]', _of_work(_licence), _works),
    Template(10, 2, "What is the abstract of the work '{title}'?", "作品《{title}》的摘要是什么？", _WORK + _DETAIL + 'work["abstract"]', _of_work(lambda one: text(one.abstract)), _works),
    Template(11, 2, "Which journal was the work '{title}' published in?", "作品《{title}》发表在哪本期刊上？", _WORK + _DETAIL + 'work["journal"]["title"]', _of_work(lambda one: text(one.journal.title)), _works),
    Template(12, 2, "Which funders supported the work '{title}'?", "哪些机构资助了作品《{title}》？", _WORK + _DETAIL + '[one["name"] for one in work["funders"]]', _of_work(_supporters), _works),
    Template(13, 2, "Which works does '{title}' cite?", "作品《{title}》引用了哪些作品？", _WORK + _DETAIL + '[one["title"] for one in work["references"]]', _of_work(_cites), _works),
    Template(14, 2, "Which works has the journal {journal} published?", "期刊{journal}发表过哪些作品？", _JOURNAL + _PUBLISHED + '[one["title"] for one in works["items"]]', _of_journal(lambda one: _titles(world.works_of(one))), _journals),
    Template(15, 2, "What is the most cited work of the journal {journal}?", "期刊{journal}被引用最多的作品是哪一篇？", _JOURNAL + _PUBLISHED + 'max(works["items"], key=lambda one: one["cited_by"])["title"]', _of_journal(_by_citations), _journals),
    Template(16, 2, "How many works has {funder} supported since {year}?", "{year}年以来{funder}资助了多少篇作品？", _FUNDER + _FUNDED + 'len([one for one in works["items"] if one["year"] >= year])', _since, _funders_and_years),
    Template(17, 2, "Which work supported by {funder} has been cited most often?", "{funder}资助的作品中被引用最多的是哪一篇？", _FUNDER + _FUNDED + 'max(works["items"], key=lambda one: one["cited_by"])["title"]', _of_funder(_by_citations), _funders),
    Template(18, 3, "What is the abstract of the most cited work of the journal {journal}?", "期刊{journal}被引用最多的作品的摘要是什么？", _JOURNAL + _PUBLISHED + 'work = await getWork(doi=works["items"][0]["doi"])\nwork["abstract"]', _of_best(_abstract, _journal), _journals),
    Template(19, 3, "Under which licence was the most cited work supported by {funder} published?", "{funder}资助的作品中被引用最多的那篇采用什么许可协议？", _FUNDER + _FUNDED + 'work = await getWork(doi=works["items"][0]["doi"])\nwork["licence"]', _of_best(_licence, _funder), _funders),
    Template(20, 3, "Which works have come out in the journal that published '{title}'?", "发表作品《{title}》的期刊还发表过哪些作品？", _WORK + _DETAIL + 'others = await getJournalWorks(issn=work["journal"]["issn"])\n[one["title"] for one in others["items"]]', _of_work(lambda one: _titles([other for other in world.works_of(one.journal) if other != one])), _works),
    Template(21, 3, "What else has the funder of the work '{title}' supported?", "资助作品《{title}》的机构还资助过哪些作品？", _WORK + _DETAIL + 'others = await getFunderWorks(funder_id=work["funders"][0]["funder_id"])\n[one["title"] for one in others["items"] if one["title"] != title]', _of_work(_of_its_funder), _works),
    Template(22, 3, "Who funded the most cited work of the journal {journal}?", "期刊{journal}被引用最多的作品由哪些机构资助？", _JOURNAL + _PUBLISHED + 'work = await getWork(doi=works["items"][0]["doi"])\n[one["name"] for one in work["funders"]]', _of_best(_supporters, _journal), _journals),
)  # fmt: skip
