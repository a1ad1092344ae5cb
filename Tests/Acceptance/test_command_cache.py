"""`carpool cache`, the options `--cache`, `--ttl` and `--offline`; the line of `-v`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import StartDaemon
from harness.command import OK, RPC_ERROR, TRANSFER_FAILED, USAGE, Done, Run, runner
from harness.daemon import Daemon
from origins.scripted import Exchange, ScriptedOrigin

FRESH = ("Cache-Control", "max-age=600")


def page(*fields: tuple[str, str], status: int = 200, body: bytes = b"page\n") -> Callable[[Exchange], None]:
    return lambda exchange: exchange.reply(status, body, fields)


@pytest.fixture
def daemon(start: StartDaemon) -> Daemon:
    return start(config={"cache": "use_protocol"})


@pytest.fixture
def run(daemon: Daemon, tmp_path: Path) -> Run:
    return runner({**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket)}, tmp_path)


@pytest.fixture
def place(origin: ScriptedOrigin) -> ScriptedOrigin:
    origin.on("/fresh", page(FRESH, ("ETag", '"7"')))
    origin.on("/silent", page())
    origin.on("/moved", page(FRESH, ("Location", "/fresh"), status=301, body=b""))
    return origin


def text(done: Done, code: int = OK) -> str:
    assert done.returncode == code, done.stderr
    return done.stdout.decode()


def fetched(origin: ScriptedOrigin, path: str) -> int:
    return sum(request.target == path for request in origin.requests)


def test_a_fresh_response_is_fetched_once(place: ScriptedOrigin, run: Run) -> None:
    assert text(run("get", f"{place.url}/fresh")) == "page\n"
    done = run("get", "-v", f"{place.url}/fresh")
    assert text(done) == "page\n"
    assert "* cache hit (fresh), " in done.stderr.decode()
    assert fetched(place, "/fresh") == 1


def test_hp_04_offline_serves_what_is_stored_or_fails(place: ScriptedOrigin, run: Run) -> None:
    done = run("get", "--offline", f"{place.url}/silent")
    assert done.returncode == TRANSFER_FAILED
    assert b"resource_unavailable" in done.stderr
    text(run("get", "--ttl", "10m", f"{place.url}/silent"))
    assert text(run("get", "--offline", f"{place.url}/silent")) == "page\n"
    assert fetched(place, "/silent") == 1


@pytest.mark.parametrize(
    ("policy", "requests"),
    [
        ("use_protocol", 1),
        ("reload_ignoring_cache", 2),
        ("return_cache_else_load", 1),
        ("return_cache_dont_load", 1),
        ("reload_revalidating", 2),
        ("no_store", 2),
    ],
)
def test_hp_01_to_hp_06_a_request_has_a_policy(place: ScriptedOrigin, run: Run, policy: str, requests: int) -> None:
    text(run("get", f"{place.url}/fresh"))
    assert text(run("get", "--cache", policy, f"{place.url}/fresh")) == "page\n"
    assert fetched(place, "/fresh") == requests


def test_hc_09_a_download_is_stored_only_with_a_span(place: ScriptedOrigin, run: Run, tmp_path: Path) -> None:
    text(run("get", "-o", "file", f"{place.url}/fresh"))
    text(run("get", "-o", "file", f"{place.url}/fresh"))
    assert fetched(place, "/fresh") == 2
    text(run("get", "--ttl", "1h", "-o", "file", f"{place.url}/silent"))
    (tmp_path / "file").unlink()
    text(run("get", "-o", "file", f"{place.url}/silent"))
    assert (tmp_path / "file").read_bytes() == b"page\n"
    assert fetched(place, "/silent") == 1


def test_why_says_what_would_happen_and_asks_nobody(place: ScriptedOrigin, run: Run) -> None:
    url = f"{place.url}/fresh"
    assert text(run("cache", "why", url)).splitlines() == [
        url,
        "  the server would be asked (not_stored): Nothing is stored for this URL.",
    ]
    assert place.requests == []
    text(run("get", url))
    found = text(run("cache", "why", url)).splitlines()
    assert found[:2] == [url, "  would be served from the cache (fresh): The stored response is fresh."]
    assert found[2].startswith("  stored: status 200, 5 B, ")
    assert 'ETag "7"' in found[2]
    assert found[2].endswith("in memory")
    answer = json.loads(text(run("cache", "get", url)))
    assert (answer["would"], answer["reason"], answer["entry"]["status"]) == ("serve", "fresh", 200)


def test_why_follows_stored_redirects(place: ScriptedOrigin, run: Run) -> None:
    text(run("get", f"{place.url}/moved"))
    found = text(run("cache", "why", f"{place.url}/moved")).splitlines()
    assert found[0] == f"{place.url}/moved"
    assert found[3:5] == [f"  redirects to {place.url}/fresh", f"{place.url}/fresh"]


def test_hk_05_why_depends_on_the_fields_of_the_request(place: ScriptedOrigin, run: Run) -> None:
    place.on("/vary", page(FRESH, ("Vary", "Accept")))
    url = f"{place.url}/vary"
    text(run("get", "-H", "Accept: a", url))
    assert "(fresh)" in text(run("cache", "why", "-H", "Accept: a", url))
    assert "(vary)" in text(run("cache", "why", "-H", "Accept: b", url))


def test_a_list_has_a_line_for_each_response(place: ScriptedOrigin, run: Run) -> None:
    assert text(run("cache", "ls")) == "no stored responses\n"
    for path in ("/fresh", "/moved"):
        text(run("get", "--no-location", f"{place.url}{path}"))
    heading, *lines = text(run("cache", "ls")).splitlines()
    assert heading.split() == ["STATUS", "SIZE", "AGE", "FRESH", "FOR", "HITS", "WHERE", "URL"]
    assert [line.split()[-1] for line in lines] == [f"{place.url}/fresh", f"{place.url}/moved"]
    rows = [json.loads(line) for line in text(run("cache", "ls", "--json", f"{place.url}/f")).splitlines()]
    assert [(row["url"], row["status"], row["size_bytes"]) for row in rows] == [(f"{place.url}/fresh", 200, 5)]


@pytest.mark.parametrize(
    ("selection", "removed"),
    [
        (["{url}/fresh"], 1),
        (["--prefix", "{url}/"], 2),
        (["--origin", "{url}"], 2),
        (["--older-than", "1h"], 0),
        (["--older-than", "0s"], 2),
        (["--all"], 2),
    ],
)
def test_a_purge_removes_what_is_selected(place: ScriptedOrigin, run: Run, selection: list[str], removed: int) -> None:
    for path in ("/fresh", "/moved"):
        text(run("get", "--no-location", f"{place.url}{path}"))
    words = {0: "no stored responses", 1: "1 stored response", 2: "2 stored responses"}
    done = run("cache", "purge", *(part.format(url=place.url) for part in selection))
    assert text(done) == f"removed {words[removed]}\n"
    answer = json.loads(text(run("cache", "purge", "--all", "--json")))
    assert answer == {"changed": removed < 2, "purged": 2 - removed}


def test_a_soft_purge_keeps_what_is_still_valid(place: ScriptedOrigin, run: Run) -> None:
    place.on("/valid", lambda exchange: exchange.reply(304 if exchange.request.values("if-none-match") else 200, b"v",
                                                       [FRESH, ("ETag", '"1"')]))  # fmt: skip
    url = f"{place.url}/valid"
    text(run("get", url))
    assert text(run("cache", "purge", "--soft", url)) == "marked 1 stored response as stale\n"
    assert "(invalidated)" in text(run("cache", "why", url))
    done = run("get", "-v", url)
    assert done.stdout == b"v"
    assert b"* cache revalidated (validated)" in done.stderr


def test_statistics_name_the_store_and_the_reasons(place: ScriptedOrigin, run: Run) -> None:
    for _ in range(3):
        text(run("get", f"{place.url}/fresh"))
    lines = text(run("cache", "stats")).splitlines()
    assert lines[0] == "default"
    assert "  served    2 fresh, 0 stale, 0 found valid, 0 by an identical request" in lines
    assert "not_stored 1" in lines[-1]
    stores = json.loads(text(run("cache", "stats", "--json")))["stores"]
    assert [(store["store"], store["counters"]["hits"]) for store in stores] == [("default", 2)]


def test_a_store_that_is_not_there(run: Run) -> None:
    done = run("cache", "ls", "--store", "none")
    assert done.returncode == RPC_ERROR
    assert b"cache.unavailable" in done.stderr
    done = run("cache", "why", "--session", "none", "http://127.0.0.1/")
    assert done.returncode == RPC_ERROR
    assert b"session.not_found" in done.stderr


def test_wrong_lines_have_exit_code_2(run: Run) -> None:
    for line in (["cache"], ["cache", "purge"], ["get", "--cache", "no-store", "http://127.0.0.1/"]):
        done = run(*line)
        assert done.returncode == USAGE, line
        assert b"carpool help" in done.stderr
