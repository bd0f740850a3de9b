"""What a program's text says, whatever its calls answer: read once, and asked by the checks, approvals, learning, plans, solutions and exports."""
