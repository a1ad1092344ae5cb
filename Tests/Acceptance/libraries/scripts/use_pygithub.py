"""PyGithub: over TLS, with its retries of rate limits, pages, and the upload of a release's file."""

from __future__ import annotations

import os
from pathlib import Path

import github
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass, Requester
from loopback import Origin, adapter, authority, in_turn, serving, status

CarpoolAdapter = adapter().CarpoolAdapter


class Connection(HTTPSRequestsConnectionClass):
    def __init__(self, *arguments: object, **settings: object) -> None:
        super().__init__(*arguments, **settings)
        self.session.mount("https://", CarpoolAdapter(max_retries=self.retry))


Requester.injectConnectionClasses(HTTPRequestsConnectionClass, Connection)


def reading(origin: Origin, hub: github.Github) -> None:
    origin.json("/api/v3/user", {"login": "zoë", "id": 1, "url": f"{origin.url}/api/v3/user"})
    assert hub.get_user().login == "zoë"
    assert origin.requests[-1].values("authorization") == ["token t"]

    pages = f"{origin.url}/api/v3/repos/o/r/issues"
    more = [("Link", f'<{pages}?page=2>; rel="next", <{pages}?page=2>; rel="last"')]
    origin.json("/api/v3/repos/o/r", {"id": 1, "full_name": "o/r", "url": f"{origin.url}/api/v3/repos/o/r"})
    repository = hub.get_repo("o/r")
    one, two = ([{"id": number, "number": number, "title": f"t{number}"}] for number in (1, 2))
    origin.on("/api/v3/repos/o/r/issues", in_turn(status(200, one, more), status(200, two)))
    assert [issue.title for issue in repository.get_issues()] == ["t1", "t2"]


def retries(origin: Origin, hub: github.Github) -> None:
    limited = {"message": "You have exceeded a secondary rate limit and have been temporarily blocked"}
    issue = {"id": 3, "number": 3, "title": "new", "url": f"{origin.url}/api/v3/repos/o/r/issues/3"}
    repository = hub.get_repo("o/r")
    # The message of the 403 is read before the request is sent again.
    origin.on("/api/v3/repos/o/r/issues", in_turn(status(403, limited), status(502, {}), status(201, issue)))
    before = len(origin.requests)
    assert repository.create_issue("new", body="größe").number == 3
    assert [request.method for request in origin.requests[before:]] == ["POST"] * 3
    assert origin.bodies("/api/v3/repos/o/r/issues")[-1] == {"title": "new", "body": "größe"}

    origin.json("/api/v3/repos/o/r/issues/9", {"message": "Not Found"}, 404)
    try:
        repository.get_issue(9).title  # noqa: B018, it is read when it is used
    except github.UnknownObjectException as error:
        assert error.data["message"] == "Not Found"
    else:
        raise AssertionError("no UnknownObjectException")


def upload(origin: Origin, hub: github.Github) -> None:
    content = os.urandom(2_000_000)
    Path("asset.bin").write_bytes(content)
    release = {
        "id": 1, "url": f"{origin.url}/api/v3/repos/o/r/releases/1",
        "upload_url": f"{origin.url}/api/uploads/repos/o/r/releases/1/assets{{?name,label}}",
    }  # fmt: skip
    origin.json("/api/v3/repos/o/r/releases/1", release)
    origin.json("/api/uploads/repos/o/r/releases/1/assets", {"id": 7, "name": "asset.bin"}, 201)
    asset = hub.get_repo("o/r").get_release(1).upload_asset("asset.bin", content_type="application/x")
    assert asset.name == "asset.bin"
    assert origin.requests[-1].body == content
    assert origin.requests[-1].values("content-length") == ["2000000"]


made = authority()
with serving(made.issue("hub")) as origin:
    retry = github.GithubRetry(total=4, backoff_factor=0, secondary_rate_wait=0)
    hub = github.Github(
        auth=github.Auth.Token("t"), base_url=f"https://localhost:{origin.port}/api/v3", verify=str(made.ca_file),
        retry=retry, seconds_between_requests=None, seconds_between_writes=None,
    )  # fmt: skip
    origin.url = f"https://localhost:{origin.port}"
    reading(origin, hub)
    retries(origin, hub)
    upload(origin, hub)
    hub.close()
