"""The page about moving from curl: the lines for Carpool do what those for curl do."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness.daemon import CARPOOL, ROOT, environment
from harness.waiting import PATIENCE_SECONDS
from origins import everyday
from origins.authority import Authority, Certificate
from origins.mutual import MutualNginx
from origins.proxies import Squid
from origins.scripted import ScriptedOrigin

PAGE = ROOT / "docs/moving-from-curl.md"
CODE = re.compile(r"^```sh(?: run)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BOUNDARY = re.compile(rb"-{24}\w{22}|carpoold\.multipart\.\w+")

# The daemon prints or sends other things there: an own form of the head, times, or what it keeps.
DIFFERENT = {"Status and header alone", "Header before the body", "Times of the phases", "Only if it has changed"}
# The header fields of the two are their own, and the origin prints them.
ECHOED = {"Header fields", "Token that no process list shows", "Program and referrer"}


def jobs() -> dict[str, list[str]]:
    """Return the lines of each job: for curl, and for Carpool."""
    _, *parts = re.split(r"^## (.+)$", PAGE.read_text(), flags=re.MULTILINE)
    return {name: CODE.findall(text) for name, text in zip(parts[::2], parts[1::2], strict=True)}


@pytest.fixture
def run(
    directory: Path,
    origin: ScriptedOrigin,
    squid: Squid,
    mutual: MutualNginx,
    person: Certificate,
    authority: Authority,
) -> Iterator[Callable[[str, str], tuple[str, list[object]]]]:
    """Run a line in a directory of its own; return what it prints, and what the origin receives."""
    variables = environment(directory)
    variables["PATH"] = f"{Path(CARPOOL).resolve().parent}:{variables['PATH']}"
    hosts = {
        "https://example.com": origin.url,
        "https://secure.example.com": mutual.required,
        "http://proxy.example.com:3128": f"http://127.0.0.1:{squid.plain}",
    }

    def call(name: str, text: str) -> tuple[str, list[object]]:
        place = directory / name
        place.mkdir()
        for file, source in (("client.pem", person.chain), ("client.key", person.key), ("ca.pem", authority.ca_file)):
            shutil.copy(source, place / file)
        for file in ("report.csv", "photo.png"):
            (place / file).write_text(file)
        (place / "netrc").write_text("machine 127.0.0.1 login ada password secret\n")
        (place / "netrc").chmod(0o600)
        everyday.serve(origin)
        seen = len(origin.requests)
        for host, url in hosts.items():
            text = text.replace(host, url)
        # curl is the system's, with its own libcurl.
        unset = "unset LD_LIBRARY_PATH\n" if text.startswith("curl") or "| curl" in text else ""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", unset + text],
            check=False, cwd=place, env=variables, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
        )  # fmt: skip
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
        kept = ("Cookie", "Authorization", "X-Trace", "Range")
        requests: list[object] = [
            (
                each.method,
                each.target.replace("+", "%20"),
                BOUNDARY.sub(b"#", each.body),
                [each.values(field) for field in kept],
            )
            for each in origin.requests[seen:]
        ]
        # The origin with client certificates prints the number of the connection too.
        return re.sub(r"(CN=person) \d+", r"\1", done.stdout), requests

    yield call
    subprocess.run(
        [CARPOOL, "daemon", "stop"], env=variables, check=True, timeout=PATIENCE_SECONDS, capture_output=True
    )


def test_the_page_has_the_jobs() -> None:
    found = jobs()
    assert found.pop("What it does not do") == []
    assert len(found) == 43
    assert {name for name, code in found.items() if len(code) != 2} == set()
    assert found.keys() >= DIFFERENT | ECHOED


def test_the_line_for_carpool_does_what_the_line_for_curl_does(
    run: Callable[[str, str], tuple[str, list[object]]],
) -> None:
    for number, (name, code) in enumerate(jobs().items()):
        if len(code) != 2 or name in DIFFERENT:
            continue
        printed, sent = run(f"curl-{number}", code[0])
        also_printed, also_sent = run(f"carpool-{number}", code[1])
        assert sent == also_sent, name
        # Pages that are not set print the request, with the fields of the client.
        if "HTTP/1.1\r\n" not in printed and "HTTP/1.1\n" not in printed:
            assert printed == also_printed, name
