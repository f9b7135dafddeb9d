"""Two notes that real clients and servers are asked about."""

TEXTS = {
    "lighthouse.md": (
        "# The lighthouse\n\n## History\n\nThe lamp of the lighthouse was first lit on 3 October 1874.\n"
    ),
    "ferry.md": "# The ferry\n\n## Timetable\n\nThe ferry sails four times a day from April to October.\n",
}
