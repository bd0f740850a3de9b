"""Calls: arguments checked, approvals asked, secrets put in, answers read, recorded and cached."""
