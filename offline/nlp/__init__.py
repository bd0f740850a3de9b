"""Read parts of an English request: clauses, names, values, dates, numbers, superlatives."""
