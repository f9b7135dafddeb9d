"""Tables as rows: typed columns, and questions to them in SQL."""
