"""python-gitlab: over TLS, with pages, rate limits, uploads, and downloads that are streamed."""

from __future__ import annotations

import os

import gitlab
import requests
from loopback import Origin, adapter, authority, form_parts, in_turn, serving, status


def projects(origin: Origin, lab: gitlab.Gitlab) -> None:
    url = f"{origin.url}/api/v4/projects"
    pages = [("Link", f'<{url}?page=2>; rel="next"'), ("X-Page", "1"), ("X-Next-Page", "2")]
    origin.on("/api/v4/projects", in_turn(status(200, [{"id": 1}], pages), status(200, [{"id": 2}])))
    assert [project.id for project in lab.projects.list(iterator=True)] == [1, 2]
    assert origin.requests[-1].values("private-token") == ["t"]

    origin.on(
        "/api/v4/projects", in_turn(status(429, {}, [("Retry-After", "0")]), status(201, {"id": 3, "name": "größe"}))
    )  # fmt: skip
    before = len(origin.requests)
    assert lab.projects.create({"name": "größe"}).id == 3
    assert len(origin.requests) == before + 2
    assert origin.bodies("/api/v4/projects")[-1] == {"name": "größe"}

    origin.json("/api/v4/projects/9", {"message": "404 Project Not Found"}, 404)
    try:
        lab.projects.get(9)
    except gitlab.GitlabGetError as error:
        assert error.response_code == 404 and "Not Found" in str(error)
    else:
        raise AssertionError("no GitlabGetError")


def files(origin: Origin, lab: gitlab.Gitlab) -> None:
    content = os.urandom(2_000_000)
    project = lab.projects.get(1, lazy=True)
    origin.json("/api/v4/projects/1/uploads", {"url": "/uploads/x", "alt": "a", "markdown": "m"}, 201)
    assert project.upload("a.bin", filedata=content)["url"] == "/uploads/x"
    assert form_parts(origin.requests[-1])["file"] == ("a.bin", content)

    origin.on("/api/v4/projects/1/jobs/5/artifacts", lambda exchange: exchange.reply(body=content))
    pieces: list[bytes] = []
    project.jobs.get(5, lazy=True).artifacts(streamed=True, action=pieces.append)
    assert b"".join(pieces) == content and len(pieces) > 1
    assert project.jobs.get(5, lazy=True).artifacts() == content


made = authority()
with serving(made.issue("lab")) as origin:
    session = requests.Session()
    session.mount("https://", adapter().CarpoolAdapter())
    with gitlab.Gitlab(
        origin.url, private_token="t", session=session, ssl_verify=str(made.ca_file), retry_transient_errors=True
    ) as lab:
        projects(origin, lab)
        files(origin, lab)
