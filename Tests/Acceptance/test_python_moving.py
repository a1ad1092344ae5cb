"""What programs that used requests or httpx write: it works as there, or the error has what to write instead."""

from __future__ import annotations

import asyncio
import contextlib
import enum
import functools
import importlib.util
import io
import json
import shutil
from typing import Any
from unittest import mock

import carpool
import httpx
import pytest
import requests
from harness.daemon import Daemon
from origins.scripted import Exchange, ScriptedOrigin
from urllib3.util import Retry


class Sort(str, enum.Enum):  # noqa: UP042, what a StrEnum is not: one whose str() is another text
    NEW = "new est"


class Query(str, enum.Enum):  # noqa: UP042, as above
    WHOLE = "x=1"


class Plain(enum.Enum):
    ONE = 1


# MARK: Values


@pytest.mark.parametrize("given", [{"sort": Sort.NEW}, {Sort.NEW: [Sort.NEW, "b"]}, [("sort", Sort.NEW)]])
def test_a_member_of_an_enumeration_of_texts_is_its_text(
    client: carpool.Client, origin: ScriptedOrigin, given: Any
) -> None:
    for module in (requests, client):
        untyped: Any = module
        untyped.get(f"{origin.url}/", params=given)
        untyped.post(f"{origin.url}/", data=given)
    expected, form, seen, seen_form = origin.requests
    assert "new" in expected.target
    assert (seen.target, seen_form.body) == (expected.target, form.body)
    with pytest.raises(TypeError, match="of type Plain"):
        client.get(origin.url, params={"a": Plain.ONE})


def test_a_member_of_an_enumeration_is_a_whole_query(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.get(f"{origin.url}/", params=Query.WHOLE)
    assert origin.requests[-1].target == "/?x=1"


def test_the_query_of_httpx_repeats_its_names(client: carpool.Client, origin: ScriptedOrigin) -> None:
    query = httpx.QueryParams([("a", "1"), ("a", "2"), ("b", "c d")])
    client.get(f"{origin.url}/", params=query)
    client.post(f"{origin.url}/", data=query)
    assert (origin.requests[0].target, origin.requests[1].body) == ("/?a=1&a=2&b=c+d", b"a=1&a=2&b=c+d")


def test_json_may_be_in_the_charset_of_the_response(client: carpool.Client, origin: ScriptedOrigin) -> None:
    def reply(exchange: Exchange, content_type: str, body: bytes = b'{"a": "\xe9"}') -> None:
        exchange.reply(200, body, [("Content-Type", content_type)])

    for path, charset in {"/latin": "; charset=iso-8859-1", "/none": "", "/wrong": "; charset=ascii"}.items():
        origin.on(path, functools.partial(reply, content_type=f"application/json{charset}"))
    assert (
        client.get(f"{origin.url}/latin").json() == client.get(f"{origin.url}/latin").json(strict=False) == {"a": "é"}
    )
    for path in ("/none", "/wrong"):
        with pytest.raises(json.JSONDecodeError):
            client.get(f"{origin.url}{path}").json()
    response = client.get(f"{origin.url}/wrong")
    response.encoding = "latin-1"
    assert response.json() == {"a": "é"}
    # JSON is in UTF-8, whatever else its type says.
    latin = "application/json; charset=iso-8859-1"
    origin.on("/utf8", functools.partial(reply, content_type=latin, body='{"a": "é"}'.encode()))
    assert client.get(f"{origin.url}/utf8").json() == {"a": "é"}


# MARK: Cookies


@pytest.mark.parametrize(
    ("fields", "values"),
    [
        (["J=; Max-Age=0; Path=/", "J=new; Path=/"], {"J": "new"}),
        (["J=old; Path=/", "J=new; Path=/"], {"J": "new"}),
        (["J=new; Path=/", "J=; Expires=Wed, 21 Oct 2015 07:28:00 GMT; Path=/"], {}),
        (["J=; Max-Age=-1"], {}),
        (["J=new; Path=/", "J=; Max-Age=0; Path=/x", "K=1; Max-Age=900"], {"J": "new", "K": "1"}),
    ],
)
def test_the_cookies_of_a_response_are_those_that_it_leaves(
    client: carpool.Client, origin: ScriptedOrigin, fields: list[str], values: dict[str, str]
) -> None:
    headers = [("Set-Cookie", field) for field in fields]
    url = origin.on("/", lambda exchange: exchange.reply(headers=headers))
    origin.on("/old", lambda exchange: exchange.reply(302, headers=[*headers, ("Location", "/")]))
    assert dict(client.get(url).cookies) == values
    assert dict(client.get(f"{origin.url}/old").history[0].cookies) == values
    assert dict(client.get(url, cookies={}).cookies) == values


# MARK: The methods of HTTP

METHODS = ["get", "options", "head", "post", "put", "patch", "delete"]


@pytest.mark.parametrize("method", METHODS)
def test_a_method_may_be_in_lower_case(client: carpool.Client, origin: ScriptedOrigin, method: str) -> None:
    client.request(method, origin.url)
    client.wait(client.submit(method, origin.url))
    client.stream(method, origin.url).__enter__().close()
    assert [received.method for received in origin.requests] == [method.upper()] * 3


def test_other_methods_are_sent_as_they_are(client: carpool.Client, origin: ScriptedOrigin) -> None:
    for method in ("PROPFIND", "propfind"):
        client.request(method, origin.url)
        assert origin.requests[-1].method == method


class Api(carpool.Client):
    def request(self, method: Any, url: Any, **options: Any) -> Any:
        return super().request(method, f"{url}/api", **options)


class AsyncApi(carpool.AsyncClient):
    async def request(self, method: Any, url: Any, **options: Any) -> Any:
        return await super().request(method, f"{url}/api", **options)


@pytest.mark.parametrize("method", METHODS)
def test_a_method_of_http_calls_that_of_a_subclass(daemon: Daemon, origin: ScriptedOrigin, method: str) -> None:
    async def main() -> None:
        async with AsyncApi(daemon.socket) as client:
            await getattr(client, method)(origin.url)
            await (await getattr(client, method)(origin.url, stream=True)).aclose()

    with Api(daemon.socket) as client:
        getattr(client, method)(origin.url)
        getattr(client, method)(origin.url, stream=True).close()
    asyncio.run(main())
    assert [(received.method, received.target) for received in origin.requests] == [(method.upper(), "/api")] * 4


def test_an_argument_that_is_bound_to_request_is_one_of_get(client: carpool.Client, origin: ScriptedOrigin) -> None:
    untyped: Any = client
    untyped.request = functools.partial(client.request, headers={"X-Bound": "1"})
    client.get(origin.url)
    assert origin.requests[-1].values("X-Bound") == ["1"]


def test_a_mock_of_request_is_called_by_get(client: carpool.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "http://127.0.0.1:1/"
    with mock.patch.object(client, "request") as replaced:
        client.get(url, timeout=1)
    replaced.assert_called_once_with("GET", url, timeout=1)
    with mock.patch.object(carpool.Client, "request") as replaced:
        carpool.get(url)
        carpool.get(url, stream=True)
    assert replaced.mock_calls == [mock.call("GET", url), mock.call("GET", url, stream=True)]
    with mock.patch.object(carpool.AsyncClient, "request") as replaced:
        asyncio.run(carpool.AsyncClient().get(url))
    replaced.assert_awaited_once_with("GET", url)


# MARK: Errors that have what to write instead


@pytest.mark.parametrize("method", METHODS)
def test_arguments_by_position_are_refused_with_their_names(client: carpool.Client, method: str) -> None:
    for call in (getattr(client, method), getattr(carpool, method), functools.partial(client.request, method)):
        with pytest.raises(TypeError, match="pass params= for the query, data= or json= for the body"):
            call("http://127.0.0.1:1/", {"a": 1})


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("trust_env", False, "no attribute 'trust_env': the proxies and authorities of the environment apply unless"),
        ("max_redirects", 3, "no attribute 'max_redirects': use redirect={\"max_hops\": N} in a request"),
        ("stream", True, "KIND.stream is a method, .*: pass stream= to get, post"),
        ("get", None, "KIND.get is a method, which only another function may replace"),
        ("verify_ssl", False, r"no attribute 'verify_ssl': did you mean verify= of KIND\(\)\?"),
        ("retries", 3, r"no attribute 'retries': did you mean retry= of KIND\(\)\?"),
        ("adapters", {}, "no attribute 'adapters': use retry= or proxies="),
        ("redirect", {"max_hops": 3}, "no attribute 'redirect': pass redirect= to a request"),
        ("timeout", 3, r"no attribute 'timeout': pass timeout= to KIND\(\), or to a request"),
        ("event_hooks", {}, "no attribute 'event_hooks': use hooks="),
        ("mine", 3, "no attribute 'mine': an instance of a subclass may have attributes of its own"),
    ],
)
def test_an_attribute_that_nothing_reads_cannot_be_set(name: str, value: object, words: str) -> None:
    for client in (carpool.Client(), carpool.AsyncClient()):
        with pytest.raises(AttributeError, match=words.replace("KIND", type(client).__name__)):
            setattr(client, name, value)


class Own(carpool.Client):
    base = "api"
    max_redirects = 3

    def __init__(self, token: str) -> None:
        self._secret = token
        super().__init__()
        self.token = token
        self.limits = 5

    @property
    def limit(self) -> int:
        return self.limits

    @limit.setter
    def limit(self, limit: int) -> None:
        self.limits = limit


def test_a_subclass_has_attributes_of_its_own() -> None:
    untyped: Any = Own("secret")
    untyped.base, untyped.token, untyped.limit, untyped.max_redirects = "other", "changed", 6, 4
    assert (untyped.base, untyped.token, untyped.limits, untyped._secret) == ("other", "changed", 6, "secret")
    for name in ("trust_env", "event_hooks", "timeout"):
        with pytest.raises(AttributeError, match=f"Own has no attribute '{name}'"):
            setattr(untyped, name, None)
    with mock.patch.object(untyped, "get", lambda url: url), mock.patch.object(untyped, "post", autospec=True):
        assert untyped.get("a") == "a"
        untyped.post("a")
    assert untyped.get.__func__ is carpool.Client.get


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("from carpool import Session", "cannot import name 'Session' from 'carpool': use Client, with cookies=True"),
        ("from carpool import HTTPError", "use HTTPStatusError for a status, CarpoolError for all errors"),
        ("from carpool import get, Timeout", "use RequestTimeoutError"),
        ("from carpool import codes", "use numbers, or http.HTTPStatus"),
        ("import carpool.exceptions", "use the classes of the package itself"),
        ("from carpool.exceptions import HTTPError", "use the classes of the package itself"),
        ("from carpool.auth import HTTPBasicAuth", r"use auth=\(user, password\)"),
        ("from carpool.adapters import HTTPAdapter", "use retry=, proxies= or addresses=; carpool.requests"),
        ("from carpool.packages.urllib3.util.retry import Retry", "use the packages themselves.*; retry="),
        ("import carpool; carpool.HTTPBasicAuth", r"use auth=\(user, password\)"),
        ("import carpool; carpool.AuthBase", "use a function, as auth=FUNCTION"),
        ("import carpool; carpool.HTTPAdapter", "use retry=, proxies= or addresses="),
        ("import carpool; carpool.Retry", r"use retry=N, or retry=\{"),
        ("import carpool; carpool.auth.HTTPBasicAuth", r"use auth=\(user, password\)"),
        ("import carpool; carpool.utils", "use urllib.parse and http.cookiejar"),
        ("import carpool; carpool.cookies", r"use the cookies of a Client\(cookies=True\)"),
        ("import carpool; carpool.session", "use Client, with cookies=True"),
    ],
)
def test_a_name_of_another_package_has_the_one_to_use(statement: str, words: str) -> None:
    with pytest.raises((ImportError, AttributeError), match=words) as caught:
        exec(statement, {})
    assert isinstance(caught.value, AttributeError if "; " in statement else ImportError)


def test_a_name_that_no_package_has_is_missing_as_in_any_module() -> None:
    for statement in ("from carpool import Nothing", "import carpool.nothing", "from carpool.testing import Session"):
        with pytest.raises(ImportError, match=r"(Nothing|nothing|Session)'") as caught:
            exec(statement, {})
        assert ": use" not in str(caught.value)
    assert not hasattr(carpool, "Session")


def test_find_spec_has_none_for_a_module_of_another_package() -> None:
    for name in ("exceptions", "sessions", "Session", "nothing"):
        assert importlib.util.find_spec(f"carpool.{name}") is None
    with pytest.raises(ImportError, match="use the classes of the package itself"):
        importlib.import_module("carpool.exceptions")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            "stream.iter_lines(decode_unicode=True)",
            "no argument 'decode_unicode': lines are text; for bytes use",
        ),
        ("stream.iter_lines(chunk_size=1)", "no argument 'chunk_size': lines come as they arrive"),
        ("stream.iter_lines(delimiter=b';')", "no argument 'delimiter': lines end with LF, CRLF or CR"),
        ("response.iter_lines(decode_unicode=True)", "no argument 'decode_unicode': lines are text"),
        ("stream.read(10)", r"read\(\) has no argument 10: it returns the whole body; for parts use iter_bytes"),
        ("shutil.copyfileobj(stream, io.BytesIO())", "for a file download of a client"),
        ("stream.raw", "Stream has no attribute 'raw': use iter_bytes, or download"),
        ("response.__enter__()", "a Response is no context manager: .*; with stream=True there is"),
        ("contextlib.ExitStack().enter_context(response)", "a Response is no context manager"),
        ("response.cookies.get_dict()", r"Cookies has no attribute 'get_dict': use dict\(cookies\)"),
        ("client.cookies.get_dict()", r"ClientCookies has no attribute 'get_dict': use dict\(cookies\)"),
        ("client.cookies.jar", "ClientCookies has no attribute 'jar': use list"),
        ("client.cookies.set_cookie", r"no attribute 'set_cookie': use set\(name, value, domain, path\)"),
        ("client.cookies.nothing", "ClientCookies has no attribute 'nothing'$"),
        ("client.prepare_request", r"no attribute 'prepare_request': use request\(method, url\)"),
        ("client.adapters", "no attribute 'adapters': use retry= or proxies="),
        ("client.trust_env", "no attribute 'trust_env': the proxies and authorities of the environment apply"),
        (
            "client.get(url, retry=Retry())",
            r"retry: expected .*, such as \{.*503.*\}, not Retry",
        ),
    ],
)
def test_what_an_object_does_not_have_is_refused_with_what_to_write(
    daemon: Daemon, origin: ScriptedOrigin, call: str, words: str
) -> None:
    url = f"{origin.url}/"
    with daemon.client(cookies=True) as client, client.get(url, stream=True) as stream:
        names = {"stream": stream, "response": client.get(url), "client": client, "url": url, "Retry": Retry}
        with pytest.raises((TypeError, AttributeError), match=words):
            eval(call, {**names, "shutil": shutil, "io": io, "contextlib": contextlib})


def test_a_response_in_a_block_is_refused(client: carpool.Client, origin: ScriptedOrigin) -> None:
    async def main(response: Any) -> None:
        async with response:
            pass

    response: Any = client.get(origin.url)
    with pytest.raises(TypeError, match="with stream=True there is"), response:
        pass
    with pytest.raises(TypeError, match="with stream=True there is"):
        asyncio.run(main(response))
