"""gql: queries and files, blocking with httpx and requests, and from tasks."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from carpool.requests import CarpoolAdapter
from gql import Client, FileVar, gql
from gql.transport.exceptions import TransportQueryError, TransportServerError
from gql.transport.httpx import HTTPXAsyncTransport, HTTPXTransport
from gql.transport.requests import RequestsHTTPTransport
from loopback import Origin, adapter, answer, form_parts, serving, status

CONTENT = os.urandom(1_000_000)


def handle(exchange: Any) -> None:
    if exchange.request.values("content-type")[0].startswith("multipart/form-data"):
        parts = form_parts(exchange.request)
        assert json.loads(parts["map"][1]) == {"0": ["variables.file"]}
        answer(exchange, {"data": {"upload": {"size": len(parts["0"][1])}}})
        return
    name = json.loads(exchange.request.body)["variables"]["name"]
    if name == "nobody":
        answer(exchange, {"errors": [{"message": "no such person"}]})
    else:
        answer(exchange, {"data": {"person": {"name": name}}})


def asked(name: str) -> Any:
    query = gql("query ($name: String!) { person(name: $name) { name } }")
    query.variable_values = {"name": name}
    return query


def use(session: Any, origin: Origin) -> None:
    assert session.execute(asked("Zoë")) == {"person": {"name": "Zoë"}}
    try:
        session.execute(asked("nobody"))
    except TransportQueryError as error:
        assert "no such person" in str(error)
    else:
        raise AssertionError("no TransportQueryError")
    upload = gql("mutation ($file: Upload!) { upload(file: $file) { size } }")
    upload.variable_values = {"file": FileVar("big.bin")}
    assert session.execute(upload, upload_files=True) == {"upload": {"size": len(CONTENT)}}
    assert form_parts(origin.requests[-1])["0"][1] == CONTENT
    origin.on("/graphql", status(500, {}))
    try:
        session.execute(asked("Zoë"))
    except TransportServerError as error:
        assert error.code == 500
    else:
        raise AssertionError("no TransportServerError")
    origin.on("/graphql", handle)


async def from_tasks(origin: Origin) -> None:
    transport = HTTPXAsyncTransport(f"{origin.url}/graphql", transport=adapter().AsyncCarpoolTransport())
    async with Client(transport=transport) as session:
        names = [f"n{number}" for number in range(10)]
        found = await asyncio.gather(*(session.execute(asked(name)) for name in names))
        assert [each["person"]["name"] for each in found] == names


with serving() as origin:
    origin.on("/graphql", handle)
    Path("big.bin").write_bytes(CONTENT)
    with Client(transport=HTTPXTransport(f"{origin.url}/graphql", transport=adapter().CarpoolTransport())) as session:
        use(session, origin)
    through_requests = RequestsHTTPTransport(f"{origin.url}/graphql")
    with Client(transport=through_requests) as session:
        through_requests.session.mount("http://", CarpoolAdapter())
        use(session, origin)
    asyncio.run(from_tasks(origin))
