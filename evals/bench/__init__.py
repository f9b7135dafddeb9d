"""Run the tables of the five papers again: published sets, arms, and tables as data."""
