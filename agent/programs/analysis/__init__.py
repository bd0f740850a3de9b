"""Static analysis of program texts, shared by the checks, approvals, learning, plans, solutions and exports."""
