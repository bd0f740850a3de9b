"""Gold programs, each with texts that are the same solution, and texts that are another one."""

FUNCTIONS = {
    "searchPerson": "Scholar/searchPerson",
    "getCoauthors": "Scholar/getCoauthors",
    "getPersonInterest": "Scholar/getPersonInterest",
    "getPersonPubs": "Scholar/getPersonPubs",
    "getPersonBasicInfo": "Scholar/getPersonBasicInfo",
    "getPublication": "Scholar/getPublication",
}

FIELD = """
people = await searchPerson(name="Dagny Abernathy", organization="Oskvik Polytechnic")
{"answered": "yes", "answer": people[0]["num_citation"]}
"""
FIELD_SAME = (
    # another name, and attributes
    'found = await searchPerson(organization="Oskvik Polytechnic", name="Dagny Abernathy")\nfound[0].num_citation',
    # .get for [], the helper for the first, a phrase around it
    'people = await searchPerson(name="Dagny Abernathy", organization="Oskvik Polytechnic")\n'
    'one = first(people)\n{"answered": "yes", "answer": f"She is cited {one.get(\'num_citation\', 0)} times."}',
    # nothing found is said to be so
    'people = await searchPerson(name="Dagny Abernathy", organization="Oskvik Polytechnic")\n'
    'if not people:\n    result = {"answered": "no", "answer": ""}\nelse:\n    p = people[0]\n    result = {"answered": "yes", "answer": str(p["num_citation"])}\nresult',
    # a function around it, and an error that is caught
    "async def main():\n    try:\n        people = await searchPerson(name='Dagny Abernathy', organization='Oskvik Polytechnic')\n"
    "    except ToolError:\n        return {'answered': 'no', 'answer': ''}\n    if len(people) == 0:\n        return {'answered': 'no', 'answer': ''}\n"
    "    return {'answered': 'yes', 'answer': people[0]['num_citation']}\nawait main()",
    # the one that is called so, of those that were searched by that name
    "people = await searchPerson(name='Dagny Abernathy', organization='Oskvik Polytechnic')\n"
    "one = next((p for p in people if p['name'].lower() == 'dagny abernathy'), None)\none['num_citation'] if one else None",
    # an optional argument that is nothing
    "people = await searchPerson(name='Dagny Abernathy', organization='Oskvik Polytechnic', interest=None)\npeople[0]['num_citation']",
)
FIELD_OTHER = (
    'people = await searchPerson(name="Dagny Abernathy", organization="Oskvik Polytechnic")\npeople[0]["num_pubs"]',
    'people = await searchPerson(name="Dagny Abernathy")\npeople[0]["num_citation"]',
    'people = await searchPerson(name="Dagny Abernathy", organization="Oskvik Polytechnic")\npeople[-1]["num_citation"]',
    'people = await searchPerson(name="Dagny Abernathy", organization="Oskvik Polytechnic")\nsum(p["num_citation"] for p in people)',
    'people = await searchPerson(name="Dagny Abernathy", organization="Oskvik Polytechnic")\n'
    'pubs = await getPersonPubs(person_id=people[0]["person_id"])\nsum(p["num_citation"] for p in pubs)',
    'people = await searchPerson(name="Dagny Abernathy", organization="Oskvik Polytechnic")\n'
    'extra = await getCoauthors(person_id=people[0]["person_id"])\npeople[0]["num_citation"]',
    'people = await searchPerson(name="Dagny Abernathy", organization="Oskvik Polytechnic")\nmax(p["num_citation"] for p in people)',
)

LIST = """
people = await searchPerson(name=name, organization=organization)
pubs = await getPersonPubs(person_id=people[0]["person_id"])
{"answered": "yes", "answer": [pub["title"] for pub in pubs]}
"""
LIST_SAME = (
    "people = await searchPerson(name=name, organization=organization)\nout = []\n"
    "for pub in await getPersonPubs(person_id=people[0]['person_id']):\n    out.append(pub['title'])\nout",
    "p = first(await searchPerson(organization=organization, name=name))\npubs = await getPersonPubs(person_id=p.get('person_id'))\n"
    "{'answered': 'yes', 'answer': ', '.join(x.get('title', '') for x in pubs)}",
    "people = await searchPerson(name=name, organization=organization)\npubs = await getPersonPubs(person_id=people[0]['person_id'])\n"
    "{'answered': 'yes', 'answer': sorted({pub['title'] for pub in pubs})}",
    "people = await searchPerson(name=name, organization=organization)\npubs = await getPersonPubs(person_id=people[0]['person_id'])\n"
    "lines = []\nfor i, pub in enumerate(pubs):\n    title = pub['title']\n    lines += [title]\n'; '.join(lines)",
    "people = await searchPerson(name=name, organization=organization)\npubs = await getPersonPubs(person_id=people[0]['person_id'])\n"
    "titles = list(map(lambda pub: pub['title'], pubs or []))\n{'answered': 'yes' if titles else 'no', 'answer': titles}",
    "people = await searchPerson(name=name, organization=organization)\npubs = await getPersonPubs(person_id=people[0]['person_id'])\n"
    "found = [p['title'] for p in pubs]\nsaid = [str(x) for x in found] if isinstance(found, list) else [str(found)]\n'; '.join(sorted(set(said)))",
)
LIST_OTHER = (
    "people = await searchPerson(name=name, organization=organization)\npubs = await getPersonPubs(person_id=people[0]['person_id'])\n[p['year'] for p in pubs]",
    "people = await searchPerson(name=name, organization=organization)\npubs = await getPersonPubs(person_id=people[0]['person_id'])\n[p['title'] for p in pubs if p['year'] > 2015]",
    "people = await searchPerson(name=name, organization=organization)\npubs = await getPersonPubs(person_id=people[0]['person_id'])\npubs[0]['title']",
    "people = await searchPerson(name=organization, organization=name)\npubs = await getPersonPubs(person_id=people[0]['person_id'])\n[p['title'] for p in pubs]",
    "people = await searchPerson(name=name, organization=organization)\npubs = await getPersonPubs(person_id=people[0]['person_id'])\n[p['title'] for p in pubs[:3]]",
    "people = await searchPerson(name=name, organization=organization)\nout = []\nfor one in people:\n"
    "    for pub in await getPersonPubs(person_id=one['person_id']):\n        out.append(pub['title'])\nout",
)

FILTER = """
people = await searchPerson(name="Dagny Abernathy")
coauthors = await getCoauthors(person_id=people[0]["person_id"])
interests = await asyncio.gather(*[getPersonInterest(person_id=one["id"]) for one in coauthors])
{"answered": "yes", "answer": [one["name"] for one, found in zip(coauthors, interests) if "game theory" in found]}
"""
FILTER_SAME = (
    "people = await searchPerson(name='Dagny Abernathy')\nco = await getCoauthors(person_id=people[0]['person_id'])\nnames = []\n"
    "for c in co:\n    topics = await getPersonInterest(person_id=c['id'])\n    if 'game theory' in topics:\n        names.append(c['name'])\nnames",
    "people = await searchPerson(name='Dagny Abernathy')\nco = await getCoauthors(person_id=people[0]['person_id'])\nnames = []\n"
    "for c in co:\n    topics = await getPersonInterest(person_id=c['id'])\n    if 'game theory' not in topics:\n        continue\n    names.append(c['name'])\nnames",
    "people = await searchPerson(name='Dagny Abernathy')\nco = await getCoauthors(person_id=people[0]['person_id'])\n"
    "[c['name'] for c in co if any(t.lower() == 'game theory' for t in await getPersonInterest(person_id=c['id']))]",
    "people = await searchPerson(name='Dagny Abernathy')\nco = await getCoauthors(person_id=people[0]['person_id'])\n"
    "async def topics_of(one):\n    return await getPersonInterest(person_id=one['id'])\n"
    "found = await asyncio.gather(*(topics_of(c) for c in co))\nout = []\nfor i in range(len(co)):\n    if 'game theory' in found[i]:\n        out.append(co[i]['name'])\nout",
    "people = await searchPerson(name='Dagny Abernathy')\nco = await getCoauthors(person_id=people[0]['person_id'])\nby_name = {}\n"
    "for c in co:\n    by_name[c['name']] = await getPersonInterest(person_id=c['id'])\n[n for n, topics in by_name.items() if 'game theory' in topics]",
    "import asyncio\nco = await getCoauthors(person_id=(await searchPerson(name='Dagny Abernathy'))[0]['person_id'])\n"
    "pairs = list(zip(co, await asyncio.gather(*[getPersonInterest(person_id=one['id']) for one in co])))\n"
    "fitting = [pair for pair in pairs if len(pair[1]) > 0 and 'game theory' in pair[1]]\n'; '.join([f\"{pair[0]['name']}\" for pair in fitting])",
)
FILTER_OTHER = (
    FILTER.replace("game theory", "cryptography"),
    FILTER.replace(' if "game theory" in found', ""),
    FILTER.replace('" in found', '" not in found'),
    FILTER.replace("getPersonInterest(", "getPersonBasicInfo("),
    FILTER.replace('[one["name"] for', '[one["id"] for'),
    "people = await searchPerson(interest='game theory')\nco = await searchPerson(name='Dagny Abernathy')\n[p['name'] for p in people]",
)

MOST = """
people = await searchPerson(name="Dagny Abernathy")
coauthors = await getCoauthors(person_id=people[0]["person_id"])
hits = await asyncio.gather(*[searchPerson(name=one["name"]) for one in coauthors])
best = max([found[0] for found in hits], key=lambda one: one["num_pubs"])
{"answered": "yes", "answer": best["name"]}
"""
_TWO = (
    "people = await searchPerson(name='Dagny Abernathy')\nco = await getCoauthors(person_id=people[0]['person_id'])\n"
)
MOST_SAME = (
    _TWO
    + "found = []\nfor c in co:\n    hit = await searchPerson(name=c['name'])\n    if hit:\n        found.append(hit[0])\n"
    "found.sort(key=lambda p: p['num_pubs'], reverse=True)\nfound[0]['name']",
    _TWO + "best = None\nfor c in co:\n    hit = first(await searchPerson(name=c['name']))\n"
    "    if best is None or hit['num_pubs'] > best['num_pubs']:\n        best = hit\nbest['name']",
    _TWO
    + "most = -1\nwho = None\nfor c in co:\n    hits = await searchPerson(name=c['name'])\n    if not hits:\n        continue\n"
    "    n = hits[0]['num_pubs']\n    if n > most:\n        most = n\n        who = hits[0]['name']\n{'answered': 'yes', 'answer': f'{who}'}",
    _TWO
    + "pairs = [((await searchPerson(name=c['name']))[0]['num_pubs'], (await searchPerson(name=c['name']))[0]['name']) for c in co]\nmax(pairs)[1]",
    _TWO + "hits = [h for h in await asyncio.gather(*[searchPerson(name=c['name']) for c in co])]\n"
    "sorted((h[0] for h in hits), key=lambda one: -one['num_pubs'])[0]['name']",
)
MOST_OTHER = (
    MOST.replace("num_pubs", "num_citation"),
    MOST.replace("max(", "min("),
    MOST.replace('best["name"]', 'best["organization"]'),
    _TWO + "best = None\nfor c in co:\n    hit = first(await searchPerson(name=c['name']))\n"
    "    if best is None or hit['num_pubs'] < best['num_pubs']:\n        best = hit\nbest['name']",
    _TWO
    + "infos = await asyncio.gather(*[getPersonPubs(person_id=c['id']) for c in co])\nmax(zip(co, infos), key=lambda p: len(p[1]))[0]['name']",
    "people = await searchPerson(name='Dagny Abernathy')\nmax(people, key=lambda p: p['num_pubs'])['name']",
)

COUNT = """
one = await searchPerson(name="Dagny Abernathy")
other = await searchPerson(name="Rurik Oyelaran")
mine = await getPersonPubs(person_id=one[0]["person_id"])
theirs = await getPersonPubs(person_id=other[0]["person_id"])
{"answered": "yes", "answer": len([pub for pub in mine if pub["year"] >= 2015]) + len(theirs)}
"""
COUNT_SAME = (
    # independent calls in another order, and side by side
    "b, a = await asyncio.gather(searchPerson(name='Rurik Oyelaran'), searchPerson(name='Dagny Abernathy'))\n"
    "theirs, mine = await asyncio.gather(getPersonPubs(person_id=b[0]['person_id']), getPersonPubs(person_id=a[0]['person_id']))\n"
    "n = 0\nfor pub in mine:\n    if not pub['year'] < 2015:\n        n += 1\nn + len(theirs)",
    "a = await searchPerson(name='Dagny Abernathy')\nb = await searchPerson(name='Rurik Oyelaran')\n"
    "x = await getPersonPubs(person_id=a[0]['person_id'])\ny = await getPersonPubs(person_id=b[0]['person_id'])\n"
    "late = list(filter(lambda p: 2015 <= p['year'], x))\n{'answered': 'yes', 'answer': len(late) + len([t['title'] for t in y])}",
    "a = await searchPerson(name='Dagny Abernathy')\nb = await searchPerson(name='Rurik Oyelaran')\n"
    "x = await getPersonPubs(person_id=a[0]['person_id'])\ny = await getPersonPubs(person_id=b[0]['person_id'])\n"
    "sum(1 for p in x if p['year'] >= 2015) + len(y)",
)
COUNT_OTHER = (
    COUNT.replace("2015", "2016"),
    COUNT.replace(">= 2015", "<= 2015"),
    COUNT.replace("+ len(theirs)", "+ 0"),
    COUNT.replace("len([pub for pub in mine", "len([pub for pub in theirs"),
)

FAMILIES = (
    (FIELD, FIELD_SAME, FIELD_OTHER),
    (LIST, LIST_SAME, LIST_OTHER),
    (FILTER, FILTER_SAME, FILTER_OTHER),
    (MOST, MOST_SAME, MOST_OTHER),
    (COUNT, COUNT_SAME, COUNT_OTHER),
)
