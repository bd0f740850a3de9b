"""All Cypher of links: ``(:Tool)-[:FEEDS {field, parameter, score}]->(:Tool)`` and, read as a sentence, that one tool
``-[:SUBSTITUTES {score, parameters}]->`` another, ``parameters`` being JSON: names of the second to those of the first.
"""

from typing import Final

EXPECT: Final = """
UNWIND $rows AS row
MATCH (t:Tool {id: row.id})
SET t.link_digest = coalesce(row.digest, t.link_digest, ''), t.link_pending = true
RETURN t.id
"""

# The links that rest on tools that go.
EXPECT_LINKED: Final = """
UNWIND $rows AS id
MATCH (t:Tool {id: id})-[:FEEDS|SUBSTITUTES]->(linked:Tool) WHERE NOT linked.id IN $all
SET linked.link_digest = coalesce(linked.link_digest, ''), linked.link_pending = true
"""

# Locks the tools in the order of their ids.
DONE: Final = """
UNWIND $rows AS id
MATCH (t:Tool {id: id})
SET t.link_digest = coalesce(t.link_digest, '') REMOVE t.link_pending
"""
DROP_FEEDS: Final = "UNWIND $rows AS id MATCH (:Tool {id: id})<-[r:FEEDS]-() DELETE r"
DROP_SUBSTITUTES: Final = "UNWIND $rows AS id MATCH (:Tool {id: id})<-[r:SUBSTITUTES]-() DELETE r"
PUT_FEEDS: Final = """
UNWIND $rows AS row
MATCH (a:Tool {id: row.source})
MATCH (b:Tool {id: row.target})
CREATE (a)-[:FEEDS {field: row.field, parameter: row.parameter, score: row.score}]->(b)
"""
PUT_SUBSTITUTES: Final = """
UNWIND $rows AS row
MATCH (a:Tool {id: row.other})
MATCH (b:Tool {id: row.one})
CREATE (a)-[:SUBSTITUTES {score: row.score, parameters: row.parameters}]->(b)
"""

KNOWN: Final = "UNWIND $rows AS id MATCH (t:Tool {id: id}) RETURN t.id"
STATE_PAGE: Final = """
MATCH (t:Tool) WHERE t.id > $after AND t.link_digest IS NOT NULL
RETURN t.id, t.link_digest, t.link_pending IS NOT NULL ORDER BY t.id LIMIT $limit
"""
LINKED_TO: Final = """
UNWIND $values AS id
MATCH (t:Tool {id: id})-[:FEEDS|SUBSTITUTES]->(linked:Tool)
RETURN DISTINCT linked.id
"""
FEEDS_OUT: Final = """
MATCH (s:Tool {id: $id})-[r:FEEDS]->(t:Tool)
RETURN s.id, t.id, r.field, r.parameter, r.score ORDER BY r.score DESC, t.id, r.parameter, r.field
"""
FEEDS_INTO: Final = """
MATCH (s:Tool)-[r:FEEDS]->(t:Tool {id: $id})
RETURN s.id, t.id, r.field, r.parameter, r.score ORDER BY r.score DESC, s.id, r.parameter, r.field
"""
SUBSTITUTES: Final = """
MATCH (other:Tool)-[r:SUBSTITUTES]->(one:Tool {id: $id})
RETURN one.id, other.id, r.score, r.parameters ORDER BY r.score DESC, other.id
"""
COUNTS: Final = """
CALL () { MATCH ()-[r:FEEDS]->() RETURN count(r) AS feeds }
CALL () { MATCH ()-[r:SUBSTITUTES]->() RETURN count(r) AS substitutes }
CALL () { MATCH (t:Tool) WHERE t.link_pending IS NOT NULL RETURN count(t) AS pending }
RETURN feeds, substitutes, pending
"""
