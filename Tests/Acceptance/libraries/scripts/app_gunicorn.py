"""A WSGI app whose clients were made, and used, before gunicorn forked."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

import carpool
import httpx
import requests
from carpool.httpx import CarpoolTransport
from carpool.requests import CarpoolAdapter

ORIGIN = os.environ["ORIGIN"]


def session() -> requests.Session:
    made = requests.Session()
    made.mount("http://", CarpoolAdapter())
    return made


before = {"client": carpool.Client(), "requests": session(), "httpx": httpx.Client(transport=CarpoolTransport())}
for name, sender in before.items():
    sender.get(f"{ORIGIN}/parent/{name}")
after: dict[str, Any] = {}


def app(environment: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Make each request with the clients of the parent, and with those of this worker."""
    if not after:
        after.update(client=carpool.Client(), requests=session(), httpx=httpx.Client(transport=CarpoolTransport()))
    path = environment["PATH_INFO"]
    found: dict[str, Any] = {"pid": os.getpid()}
    for kind, senders in (("before", before), ("after", after)):
        for name, sender in senders.items():
            found[f"{kind}-{name}"] = sender.get(f"{ORIGIN}{path}/{kind}/{name}").text
    found["function"] = carpool.get(f"{ORIGIN}{path}/function").text
    body = json.dumps(found).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]
