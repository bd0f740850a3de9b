"""Measure retrieval, planning, answers, programs and memory against labelled requests."""
