"""A fake daemon for tests of programs that use this package: routes in place of the network.

    with carpool.testing.FakeDaemon() as fake:
        fake.route("GET", "https://api.example.com/people/1", json={"name": "Ada"})
        assert carpool.get("https://api.example.com/people/1").json() == {"name": "Ada"}
        assert fake.requests[0].method == "GET"

`docs/python-testing.md` describes it. It needs no other package.
"""

from ._fake.daemon import FakeDaemon
from ._fake.routes import Reply, Request, Route

__all__ = ["FakeDaemon", "Reply", "Request", "Route"]
