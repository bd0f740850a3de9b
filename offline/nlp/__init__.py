"""What an English request says: clauses, entities, dates, numbers."""
