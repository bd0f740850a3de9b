"""Parts of an English request: clauses, entities, dates, numbers."""
