"""Exports as their programs write them: small ones, and those that somebody wrote to do harm."""

from __future__ import annotations

import json
from typing import Any

from ragweave.tests.support.zips import zip_bytes

PLAN = "The key lies under the mat."


def slack(plan: str = PLAN) -> bytes:
    ada = {"id": "U1", "name": "ada", "real_name": "Ada Lovelace", "profile": {"display_name": ""}}
    march = [
        {
            "type": "message",
            "user": "U2",
            "ts": "1709370360.1",
            "text": "Where &amp; when, <@U1>? <#C1|general>",
        },
        {"user": "U1", "ts": "1709370300.0001", "text": f"{plan} See <https://x.example/y|the map>."},
        "no message",
    ]
    return zip_bytes(
        {
            "team/users.json": json.dumps([ada, {"id": "U2", "profile": {"display_name": "Bob"}}]),
            "team/channels.json": '[{"id": "C1", "name": "general"}]',
            "team/general/2024-03-02.json": json.dumps(march),
            "team/boats/2024-04-01.json": '[{"user": "U9", "ts": "soon", "text": "Sold."}]',
            "__MACOSX/team/general/._2024-03-02.json": b"\xff\x00",
        }
    )


def whatsapp(plan: str = PLAN) -> bytes:
    return (
        "[13.12.23, 21:05:12] Messages are end-to-end encrypted.\n"
        f"[13.12.23, 21:05:30] Ada: {plan}\nIt is the blue one.\n"
        "\u200e[14.12.23, 08:00:00] Bob-Joe (work): thanks\n"
    ).encode()


def telegram(plan: str = PLAN) -> bytes:
    rows: list[dict[str, Any]] = [
        {"id": 1, "type": "service", "date": "2024-03-02T09:00:00", "actor": "Ada", "action": "create_group"},
        {"id": 2, "type": "message", "date": "2024-03-02T10:05:00", "date_unixtime": "1709370300",
         "from": "Ada", "from_id": "user1", "text": [plan[:12], {"type": "bold", "text": plan[12:]}]},
        {"id": 3, "type": "message", "date": "2024-03-02T09:06:00", "from": None, "text": "thanks"},
    ]  # fmt: skip
    return json.dumps({"name": "Boats", "type": "private_group", "id": 7, "messages": rows}).encode()


def evernote(plan: str = PLAN) -> bytes:
    note = (
        '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE en-note SYSTEM'
        ' "http://xml.evernote.com/pub/enml2.dtd"><en-note>'
        f'<div>{plan}</div><h1>Jobs</h1><div><en-todo checked="true"/>paint</div><en-media type="image/png"'
        ' hash="1"/>'
        "<table><tr><td>boat</td><td>price</td></tr><tr><td>Elsa</td><td>900</td></tr></table></en-note>"
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE en-export SYSTEM'
        ' "http://xml.evernote.com/pub/evernote-export4.dtd">\n'
        '<en-export application="Evernote"><note><title>Boats &amp;'
        " keys</title><created>20240302T090500Z</created>"
        f"<tag>sea</tag><content><![CDATA[{note}]]></content><resource><data"
        f' encoding="base64">\n{"QUJD" * 4_000_000}\n'
        "</data></resource></note><note><title>Empty</title></note></en-export>"
    ).encode()


def notion(plan: str = PLAN) -> bytes:
    id = "0123456789abcdef0123456789abcdef"
    page = f"# Boats\n\n{plan}\n\n## Jobs\n\n- paint\n"
    pages = {f"Harbour {id}/Boats {id}.md": page, f"Harbour {id}/table {id}.csv": "a,b\n1,2\n"}
    return zip_bytes({"Export-1-Part-1.zip": zip_bytes(pages)})


EXPORTS = {
    "slack": ("team.zip", slack),
    "whatsapp": ("chat.txt", whatsapp),
    "telegram": ("result.json", telegram),
    "evernote": ("book.enex", evernote),
    "notion": ("pages.zip", notion),
}
