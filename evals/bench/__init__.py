"""The tables of the five papers, run again: sets in the forms in which they are published, arms, tables as data."""
