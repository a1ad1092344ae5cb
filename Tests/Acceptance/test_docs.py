"""The documentation is correct: its examples run, and the targets of its links exist."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import carpool
import pytest
from harness.daemon import CARPOOL, ROOT, environment
from harness.waiting import PATIENCE_SECONDS
from origins import everyday
from origins.authority import Authority, Certificate
from origins.mutual import MutualNginx
from origins.proxies import Squid
from origins.scripted import ScriptedOrigin
from origins.tokens import Tokens

PAGES = sorted([ROOT / "README.md", *(ROOT / "clients").rglob("README.md"), *(ROOT / "docs").rglob("*.md")])
EXAMPLE = re.compile(r"^```(sh|python) run\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```python(?: run)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
PROOF = re.compile(r"`(?:(test_\w+\.py)::(test_\w+)|Swift: (\w+)\.(\w+))`")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def pages_with_examples() -> list[Path]:
    return [page for page in PAGES if EXAMPLE.search(page.read_text())]


@pytest.fixture
def place(directory: Path) -> Iterator[dict[str, str]]:
    """An environment in which `carpool` is on PATH and starts a daemon of the page's own."""
    variables = environment(directory)
    variables["PATH"] = f"{Path(CARPOOL).resolve().parent}:{variables['PATH']}"
    variables["PYTHONPATH"] = str(ROOT / "clients/python/src")
    yield variables
    subprocess.run(
        [CARPOOL, "daemon", "stop"], env=variables, check=True, timeout=PATIENCE_SECONDS, capture_output=True
    )


@pytest.fixture
def hosts(
    directory: Path,
    origin: ScriptedOrigin,
    squid: Squid,
    mutual: MutualNginx,
    person: Certificate,
    authority: Authority,
) -> dict[str, str]:
    """The servers of the pages about moving, and the files of their examples."""
    for name, source in (("client.pem", person.chain), ("client.key", person.key), ("ca.pem", authority.ca_file)):
        shutil.copy(source, directory / name)
    for name in ("report.csv", "photo.png"):
        (directory / name).write_text(name)
    (directory / "netrc").write_text("machine 127.0.0.1 login ada password secret\n")
    (directory / "netrc").chmod(0o600)
    everyday.serve(origin)
    return {
        "https://secure.example.com": mutual.required,
        "http://proxy.example.com:3128": f"http://127.0.0.1:{squid.plain}",
    }


@pytest.mark.parametrize("page", pages_with_examples(), ids=page_name)
def test_examples_run(
    page: Path, place: dict[str, str], directory: Path, origin: ScriptedOrigin, request: pytest.FixtureRequest
) -> None:
    """Each in its page's order and in one directory. example.com is an origin here, with tokens at /token."""
    Tokens(origin)
    hosts = request.getfixturevalue("hosts") if page.name.startswith("moving-") else {}
    for language, text in EXAMPLE.findall(page.read_text()):
        shell = ["bash", "-euo", "pipefail", "-c"]
        command = shell if language == "sh" else [sys.executable, "-W", "error", "-c"]
        code = text.replace("https://example.com", origin.url)
        for host, url in hosts.items():
            code = code.replace(host, url)
        done = subprocess.run(
            [*command, code],
            check=False,
            cwd=directory,
            env=place,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"


def jobs_of(library: str) -> dict[str, list[str]]:
    """Return the code of each job of a page about moving: for the library, and for Carpool."""
    _, *parts = re.split(r"^## (.+)$", (ROOT / f"docs/moving-from-{library}.md").read_text(), flags=re.MULTILINE)
    return {name: CODE.findall(text) for name, text in zip(parts[::2], parts[1::2], strict=True)}


def test_the_pages_about_moving_have_the_same_jobs() -> None:
    assert list(jobs_of("requests")) == list(jobs_of("httpx"))
    for library in ("requests", "httpx"):
        jobs = jobs_of(library)
        assert set(jobs.pop("Names")) == set()
        assert len(jobs) > 25
        assert {name for name, code in jobs.items() if len(code) != 2} == set()


# The code of a library needs what is not installed, prints words or exceptions of its own, or does less.
DIFFERENT = {"Server-sent events", "Errors", "Logging", "Download with progress, and resume", "Retries"}
# Of the last, the code of the library needs another package.
DIFFERENT |= {"Cancellation", "Time-outs", "Tests without a network"}
PRELUDE = """
import asyncio, concurrent.futures, json, os, pickle, signal, ssl, warnings
from concurrent.futures import ThreadPoolExecutor
"""


def alike(body: bytes) -> bytes:
    """Return a body without what has no meaning: the border of a form, and the blanks of JSON."""
    border = re.match(rb"--(\S+)\r\n", body)
    return body.replace(border[1], b"border") if border else body.replace(b'": ', b'":')


@pytest.fixture
def run_code(
    place: dict[str, str], hosts: dict[str, str], directory: Path, origin: ScriptedOrigin
) -> Callable[[str], tuple[str, list[object]]]:
    """Run a program; return what it prints, and what the origin receives from it."""

    def run(text: str) -> tuple[str, list[object]]:
        seen = len(origin.requests)
        code = text.replace("https://example.com", origin.url)
        for host, url in hosts.items():
            code = code.replace(host, url)
        done = subprocess.run(
            [sys.executable, "-c", code],
            check=False,
            cwd=directory,
            env=place,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
        return done.stdout, [(each.method, each.target, alike(each.body)) for each in origin.requests[seen:]]

    return run


@pytest.mark.parametrize("library", ["requests", "httpx"])
def test_the_code_of_a_library_does_what_the_code_for_carpool_does(
    library: str, run_code: Callable[[str], tuple[str, list[object]]]
) -> None:
    """It prints the same, and the origin receives the same. Without CARPOOL_PAGE_JOBS=all in every third job."""
    step = 1 if os.environ.get("CARPOOL_PAGE_JOBS") == "all" else 3
    for name, codes in list(jobs_of(library).items())[::step]:
        if codes and name not in DIFFERENT:
            assert run_code(PRELUDE + f"import {library}\n" + codes[0]) == run_code(codes[1]), name


@pytest.mark.parametrize("library", ["requests", "httpx"])
def test_a_type_checker_accepts_the_code_for_carpool(library: str, tmp_path: Path) -> None:
    for number, codes in enumerate(jobs_of(library).values()):
        for code in codes[1:]:
            (tmp_path / f"job{number}.py").write_text(code)
    done = subprocess.run(
        [
            sys.executable, "-m", "mypy", "--check-untyped-defs", "--config-file", os.devnull,
            "--cache-dir", str(ROOT / ".build/tests/types-of-pages"), ".",
        ],
        env={"MYPYPATH": str(ROOT / "clients/python/src")},
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE_SECONDS,
    )  # fmt: skip
    assert done.stdout.startswith("Success: "), done.stdout + done.stderr


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, which are made from their text."""
    headings = HEADING.findall(FENCE.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in LINK.findall(FENCE.sub("", page.read_text())):
        if "://" in target:
            continue
        to = (page.parent / target).resolve() if target else page
        assert to.exists(), f"{target} does not exist"
        assert not anchor or anchor in anchors(to), f"{target} has no heading {anchor}"


def test_the_tests_that_compatibility_names_exist() -> None:
    proofs = PROOF.findall((ROOT / "docs/compatibility.md").read_text())
    assert proofs
    sources = {path.name: path.read_text() for path in (ROOT / "Tests").rglob("*") if path.suffix in {".py", ".swift"}}
    for python, test, swift, function in proofs:
        assert f"def {test}(" in sources[python] if python else f"func {function}(" in sources[f"{swift}.swift"]


def test_every_id_of_compatibility_stands_once() -> None:
    ids = re.findall(r"^\| ([A-Z]{2}-\d\d) \|", (ROOT / "docs/compatibility.md").read_text(), re.MULTILINE)
    assert len(ids) == len(set(ids)) > 0


def test_the_page_of_doctor_has_every_line(place: dict[str, str], origin: ScriptedOrigin) -> None:
    done = subprocess.run(
        [CARPOOL, "doctor", origin.url], check=True, env=place, capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    rows = set(re.findall(r"^\| `([a-z]+)` \|", (ROOT / "docs/cli/doctor.md").read_text(), re.MULTILINE))
    assert {line.split()[0] for line in done.stdout.splitlines()} <= rows


def test_the_page_of_python_has_every_exception() -> None:
    page = (ROOT / "docs/python.md").read_text()
    classes = {name: value for name in carpool.__all__ if isinstance(value := getattr(carpool, name), type)}
    names = {name for name, value in classes.items() if issubclass(value, Exception)}
    assert len(names) > 20
    assert {name for name in names if f"`{name}`" not in page} == set()


def test_the_page_of_libraries_has_every_tested_release() -> None:
    rows = tomllib.loads((ROOT / "Tests/Acceptance/libraries/libraries.toml").read_text())["library"]
    found, package = set(), ""
    for line in (ROOT / "docs/libraries.md").read_text().splitlines():
        # A row without a package is about another release of the one above.
        if match := re.match(r"\| (?:\[([\w-]+)\]\(#[\w-]+\) )?\| ([\d.]+)", line):
            package = match[1] or package
            found.add(f"{package}=={match[2]}")
    assert found == {re.sub(r"\[.*\]", "", row["requirement"]) for row in rows}


def test_the_page_of_limits_has_every_range() -> None:
    source = (ROOT / "Sources/CarpoolServer/Configuration/Limits.swift").read_text()
    fields = re.findall(r'"([a-z_]+)", \\\.\w+, ([\d_]+)\.\.\.([\d_]+)', source)
    assert len(fields) > 50
    rows = {f"| `{name}` | {int(least):,} | {int(most):,} |" for name, least, most in fields}
    assert rows <= set((ROOT / "docs/limits.md").read_text().splitlines())
