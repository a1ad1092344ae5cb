"""The log of the Python client: one line for each request, and no secrets."""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import carpool
import pytest
from carpool import _secrets
from carpool.httpx import CarpoolTransport
from carpool.requests import CarpoolAdapter
from harness.daemon import ROOT, Daemon
from harness.waiting import PATIENCE_SECONDS, join
from origins.scripted import Exchange, ScriptedOrigin, statuses

httpx = importlib.import_module("httpx")
requests = importlib.import_module("requests")

# The default session stores responses.
PORT = re.compile(r"127\.0\.0\.1:\d+")
TIMES = re.compile(r"\d+(\.\d)? ms")
OK = "200 (7 bytes in N ms, new connection)"
URL = "http://HOST/p"

Call = Callable[[carpool.Client, str], object]


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Return the lines of the level INFO, with HOST for the origin and N for numbers of milliseconds."""
    caplog.set_level(logging.INFO, "carpool")

    def lines() -> list[str]:
        found = [entry.getMessage() for entry in caplog.records if entry.name == "carpool"]
        return [TIMES.sub("N ms", PORT.sub("HOST", line)) for line in found]

    return lines


@pytest.fixture
def url(origin: ScriptedOrigin) -> str:
    return origin.on("/p", lambda exchange: exchange.reply(200, b'{"a":1}', [("Set-Cookie", "sid=s3cret")]))


def submitted(client: carpool.Client, url: str) -> None:
    request = client.submit("GET", url)
    for _ in range(2):
        client.wait(request, timeout=PATIENCE_SECONDS)
    client.response(request)


def held(client: carpool.Client, url: str) -> None:
    response = client.get(url, hold_for_headers=True)
    client.resume(response.request_id)
    client.wait(response.request_id)


def streamed(client: carpool.Client, url: str) -> None:
    with client.stream("GET", url) as stream:
        assert len(stream.read()) == 7


def refused(client: carpool.Client, url: str) -> None:
    with pytest.raises(carpool.ValidationError):
        client.get(url, validate=[{"status": [404]}])


def unknown(client: carpool.Client, url: str) -> None:
    options: Any = {"priority": "none"}
    with pytest.raises(carpool.InvalidParamsError):
        client.get(url, **options)


def cancelled(client: carpool.Client, url: str) -> None:
    request = client.submit("GET", url, start="manual")
    assert client.cancel(request)
    assert not client.cancel(request)


def waited(client: carpool.Client, url: str) -> None:
    request = client.submit("GET", url, start="manual")
    client.cancel(request)
    client.wait(request)


def left(client: carpool.Client, url: str) -> None:
    with client.get(url, stream=True):
        pass


def interrupted(client: carpool.Client, url: str) -> None:
    def blocks() -> Any:
        yield b"a"
        raise AttributeError("s3cret", name="s3cret", obj=None)

    with pytest.raises(AttributeError, match="s3cret"):
        client.post(url, data=blocks())


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda client, url: client.get(url), f"GET {URL} {OK}"),
        (lambda client, url: client.request("get", url, params={"a": "b"}), f"get {URL}?a=b {OK}"),
        (lambda client, url: client.put(url, data=iter([b"a"])), f"PUT {URL} {OK}"),
        (lambda client, url: client.post(url, data=b"x" * 600_000), f"POST {URL} {OK}"),
        (lambda client, url: client.upload(url, b"a"), f"POST {URL} {OK}"),
        (submitted, f"GET {URL} {OK}"),
        (held, f"GET {URL} {OK}"),
        (streamed, f"GET {URL} {OK}"),
        (left, f"GET {URL} 200 (0 bytes in N ms): closed before the end of its body"),
        (refused, f"GET {URL} {OK}: response_validation_failed.unacceptable_status_code"),
        (unknown, f"GET {URL} failed after N ms: invalid_params"),
        (cancelled, f"GET {URL} failed after N ms: explicitly_cancelled"),
        (waited, f"GET {URL} failed after N ms: explicitly_cancelled"),
        (interrupted, f"POST {URL} failed after N ms: AttributeError"),
        (lambda client, url: client.call("request.perform", url=url), None),
    ],
)
def test_a_request_has_one_line(
    client: carpool.Client, url: str, log: Callable[[], list[str]], call: Call, line: str | None
) -> None:
    call(client, url)
    assert log() == ([] if line is None else [line])


def test_a_download_has_one_line(client: carpool.Client, url: str, folder: Path, log: Callable[[], list[str]]) -> None:
    client.download(url, folder / "file", progress=print)
    with pytest.raises(carpool.ValidationError):
        client.download(url, folder / "file", validate=[{"status": [404]}])

    def stop(_: carpool.Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        client.download(url, folder / "file", progress=stop)
    reused = "200 (7 bytes in N ms, reused connection): response_validation_failed.unacceptable_status_code"
    assert log() == [f"GET {URL} {OK}", f"GET {URL} {reused}", f"GET {URL} failed after N ms: KeyboardInterrupt"]


def test_the_next_request_says_that_the_connection_was_reused(
    client: carpool.Client, url: str, log: Callable[[], list[str]]
) -> None:
    for _ in range(2):
        client.get(url)
    assert log()[1] == f"GET {URL} 200 (7 bytes in N ms, reused connection)"


def test_each_caller_of_a_request_with_a_key_has_a_line(
    client: carpool.Client, url: str, log: Callable[[], list[str]]
) -> None:
    first, second = (client.get(url, key="k") for _ in range(2))
    assert first.request_id == second.request_id
    assert log() == [f"GET {URL} {OK}"] * 2


def test_a_line_has_retries_redirects_and_the_cache(
    client: carpool.Client, origin: ScriptedOrigin, log: Callable[[], list[str]]
) -> None:
    busy = origin.on("/busy", statuses(503, 200, body=b"a"))
    client.get(busy, retry={"scale_ms": 1, "without_validation": True})
    client.get(origin.on("/old", lambda exchange: exchange.reply(302, headers=[("Location", "/busy")])))
    fresh = origin.on("/fresh", lambda exchange: exchange.reply(headers=[("Cache-Control", "max-age=60")]))
    for _ in range(2):
        client.get(fresh)
    failing = origin.on("/failing", lambda exchange: exchange.reply(503))
    client.get(failing, retry={"limit": 1, "scale_ms": 1, "without_validation": True})
    assert log() == [
        "GET http://HOST/busy 200 (1 byte in N ms, reused connection, 2 attempts)",
        "GET http://HOST/old 200 (1 byte in N ms, reused connection, 1 redirect)",
        "GET http://HOST/fresh 200 (0 bytes in N ms, reused connection)",
        "GET http://HOST/fresh 200 (0 bytes in N ms, cache hit)",
        "GET http://HOST/failing 503 (0 bytes in N ms, reused connection, 2 attempts): "
        "response_validation_failed.unacceptable_status_code",
    ]


def test_a_failure_has_the_name_of_its_error(
    client: carpool.Client, origin: ScriptedOrigin, log: Callable[[], list[str]]
) -> None:
    def broken(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
        exchange.close()

    with pytest.raises(carpool.ConnectError):
        client.get("http://ada:s3cret@127.0.0.1:1/?token=s3cret")
    for url in ("nope", origin.on("/broken", broken)):
        with pytest.raises(carpool.RequestError):
            client.get(url)
    with client.stream("GET", f"{origin.url}/broken") as stream, pytest.raises(carpool.TransferError):
        stream.read()
    with carpool.Client("/nowhere") as lost, pytest.raises(carpool.DaemonUnreachableError):
        lost.get(origin.url)
    assert log() == [
        "GET http://HOST/?token=(hidden) failed after N ms: session_task_failed.cannot_connect_to_host",
        "GET nope failed after N ms: invalid_url",
        *["GET http://HOST/broken 200 (5 bytes in N ms, new connection): session_task_failed.network_connection_lost"]
        * 2,
        "GET http://HOST failed after N ms: DaemonUnreachableError",
    ]


def test_a_request_for_which_threads_wait_has_one_line(
    client: carpool.Client, origin: ScriptedOrigin, log: Callable[[], list[str]]
) -> None:
    gate = origin.hold("/held", b"7 bytes")
    request = client.submit("GET", f"{origin.url}/held")
    threads = [threading.Thread(target=client.wait, args=(request,), daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    gate.set()
    join(threads)
    assert log() == [f"GET http://HOST/held {OK}"]


def test_the_asynchronous_client_writes_the_same_lines(
    daemon: Daemon, origin: ScriptedOrigin, url: str, log: Callable[[], list[str]]
) -> None:
    origin.hold("/held")

    async def run() -> None:
        async with carpool.AsyncClient(daemon.socket) as client:
            await client.get(url)
            async with client.stream("GET", url) as stream:
                async for _ in stream.iter_bytes():
                    pass
            await client.wait(await client.submit("DELETE", url))
            for data in (None, iter([b"a"])):
                task = asyncio.create_task(client.post(f"{origin.url}/held", data=data))
                await asyncio.to_thread(origin.received, 1, "/held")
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                origin.hold("/held")

    asyncio.run(run())
    lines = log()
    assert len(lines) == 5
    assert [line.partition(" (")[0] for line in lines[:3]] == [f"GET {URL} 200", f"GET {URL} 200", f"DELETE {URL} 200"]
    assert lines[3:] == ["POST http://HOST/held failed after N ms: CancelledError"] * 2


def test_the_adapters_write_no_line(
    daemon: Daemon, url: str, log: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))
    with requests.Session() as session, httpx.Client(transport=CarpoolTransport()) as client:
        session.mount("http://", CarpoolAdapter())
        assert session.get(url).text == client.get(url).text == '{"a":1}'
    assert log() == []


def test_the_level_debug_has_the_record_without_bodies_and_secrets(
    client: carpool.Client, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "carpool")
    request = client.submit("POST", f"{url}?token=s3cret&page=2", headers={"X-Api-Key": "s3cret"}, serialize="json")
    client.response(request, "json")
    info, debug = caplog.records
    assert (info.levelno, debug.levelno) == (logging.INFO, logging.DEBUG)
    text, _, record = debug.getMessage().partition(": ")
    assert text == f"record of {request}"
    shown = json.loads(record)
    assert "s3cret" not in record
    assert shown["body"] == {"size_bytes": 7}
    assert shown["outcome"] == {"ok": True}
    assert ["Set-Cookie", "(hidden)"] in shown["response"]["headers"]
    assert ["X-Api-Key", "(hidden)"] in shown["attempts"][0]["request"]["headers"]
    assert shown["response"]["url"] == f"{url}?token=(hidden)&page=2"
    assert shown["metrics"]["duration_us"] > 0


def test_a_request_asks_for_the_level_once(client: carpool.Client, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    logger, asked = logging.getLogger("carpool"), []
    real = logger.isEnabledFor

    def counted(level: int) -> bool:
        asked.append(level)
        return real(level)

    monkeypatch.setattr(logger, "isEnabledFor", counted)
    client.get(url)
    assert asked == [logging.INFO]


@pytest.mark.parametrize(
    ("code", "errors", "has_logging"),
    [
        ("", "", "False"),
        ("import logging", "", "True"),
        ("import logging; logging.basicConfig(level='INFO')", r"INFO:carpool:GET \S+ 200 \(7 bytes .*\)\n", "True"),
    ],
)
def test_a_program_configures_the_log(daemon: Daemon, url: str, code: str, errors: str, has_logging: str) -> None:
    """The functions of the module have the lines too; without the module logging it is not imported."""
    program = f"{code}\nimport sys, carpool; carpool.get({url!r}); print('logging' in sys.modules)"
    variables = {"PYTHONPATH": str(ROOT / "clients/python/src"), "CARPOOL_SOCKET": str(daemon.socket)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        env=variables,
        timeout=PATIENCE_SECONDS,
    )
    assert re.fullmatch(errors, done.stderr)
    assert done.stdout == f"{has_logging}\n"


def test_the_table_of_secrets_is_that_of_the_daemon() -> None:
    source = (ROOT / "Sources/CarpoolSession/Headers/SecretNames.swift").read_text()
    tables = {
        name: re.findall(r'"(\w+)"', body)
        for name, body in re.findall(r"static let (\w+) = BytePatterns\(\s*\[(.*?)\]", source, re.DOTALL)
    }
    assert tables.pop("harmlessKeys") == [key.removesuffix("key") for key in _secrets.HARMLESS_KEYS]
    assert set(tables.pop("names")) == _secrets.NAMES
    assert tables == {
        "parts": _secrets.PARTS,
        "harmlessEndings": list(_secrets.HARMLESS_ENDINGS),
        "harmlessParts": _secrets.HARMLESS_PARTS,
    }


NAMES = [
    *_secrets.PARTS, *_secrets.NAMES, *_secrets.HARMLESS_ENDINGS, *_secrets.HARMLESS_PARTS, *_secrets.HARMLESS_KEYS,
    "x-key", "xKey", "xkey", "XKey", "1key", "XKEY", "KEY", "key", "api_key", "ApiKey", "x%2Dkey", "to%6ben", "t%6fken",
    "token_url", "a" * 200 + "token", "token" + "a" * 200, "monkey", "page", "sort_key", "%zztoken", "tök-en", "toKen",
    "keys", "code2",
]  # fmt: skip
TAILS = [
    *(f"?{name}=s&a=b#x" for name in NAMES),
    "?a=token=s", "?token=s<b=c&d=e", "?token=", "?token=&a=b", "#token=s", ";token=s", "?a=b;sid=s?", "?sid=s/../x",
    "?x=http://ada:pw@host/&y=1", "?x=http:ada@host", "?x=a:b@c", "?x=1:/ada@b", "?mail=ada@host", "?a='sid=s'",
    "?a,sid=s", "?token=sid=s&a=b",
    "?x=http://a:b@c:d@e/f@g:h@i//j:k@l", "?x=::://a@b", "/a:b@c", "/a%3A//b@c",
]  # fmt: skip


def test_urls_are_shown_as_the_daemon_shows_them_to_others(daemon: Daemon) -> None:
    """The list of another client has what the log has."""
    users = ["", "ada@", "ada:pw@", "a@b:c@"]
    urls = [f"http://{user}h.example/p{tail}" for user in users for tail in TAILS if not user or tail in TAILS[-20:]]
    urls += ["http:/ada:pw@h/x", "http:ada:pw@h", "ada:pw@h", "http://a b:c@d/", "see http://ada@h b@c", "x a:b@c"]
    differing = {}
    with daemon.client() as other, daemon.wire() as owner:
        owner.call("client.hello", name="owner")
        for url in urls:
            request = owner.call("request.submit", url=url, start="manual", url_encoding="as_is")["request"]
            (listed,) = other.call("request.list", scope="all")["requests"]
            owner.call("request.cancel", request=request)
            owner.call("request.dismiss", request=request)
            if listed["url"] != _secrets.shown(url):
                differing[url] = (listed["url"], _secrets.shown(url))
    assert differing == {}
