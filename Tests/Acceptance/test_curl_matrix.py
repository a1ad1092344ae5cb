"""`carpool curl` does what curl does in the cells of a matrix of options (`curl/matrix.toml`).

A seeded sample runs by default, all cells with CARPOOL_CURL_CELLS=all. CARPOOL_CURL_SEED chooses another sample. A cell
has to differ as the rules of known differences say, in all that they name and nothing else.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness import matrix, oneliners
from harness.daemon import CARPOOL, Daemon
from harness.matrix import Cell
from harness.waiting import eventually
from origins.authority import LOCAL, Authority, Certificate
from origins.credentialpages import CredentialPages
from origins.mutual import issue_person
from origins.proxies import PASSWORD, USER, Socks, Squid
from origins.scripted import Received, ScriptedOrigin

pytestmark = pytest.mark.own_daemon

REAL = shutil.which(os.environ.get("CARPOOL_REAL_CURL", "curl")) or ""
ALL = os.environ.get("CARPOOL_CURL_CELLS") == "all"
SEED = int(os.environ.get("CARPOOL_CURL_SEED", "1"))
CELLS = {"credentials": matrix.credential_cells(), "tls": matrix.tls_cells()}
CHUNK = 20
"""How many cells one test runs: it has to end in time on a slow machine."""


def chunks(cells: list[Cell]) -> list[list[Cell]]:
    chosen = cells if ALL else matrix.sample(cells, SEED)
    return [chosen[start : start + CHUNK] for start in range(0, len(chosen), CHUNK)]


@dataclass
class Place:
    """The servers, the names by which cells know them, and the programs."""

    directory: Path
    origins: list[ScriptedOrigin]
    names: dict[str, str]
    daemon: Daemon
    tool: str

    def differences(self, cell: Cell) -> tuple[int, dict[str, str]]:
        """Run a cell by both programs; returns the exit code of curl, and what differs."""
        expected = self._run(REAL, cell)
        self.daemon.call("pool.flush")
        actual = self._run(self.tool, cell, expected.parts["number of requests"])
        return expected.parts["exit code"], matrix.differences(expected, actual)

    def _run(self, program: str, cell: Cell, count: int = 0) -> matrix.Outcome:
        for origin in self.origins:
            origin.close_connections()
            origin.forget()
        # PATH has a program that stands for the real curl: a cell that runs it differs.
        environment = {
            "PATH": f"{self.directory}/path/real:/usr/bin:/bin", "HOME": str(self.directory), "LANG": "C.UTF-8",
            "CARPOOL_SOCKET": str(self.daemon.socket), "FELL_BACK": str(self.directory / "fell-back"),
        }  # fmt: skip

        def requests() -> list[Received]:
            return [request for origin in self.origins for request in origin.requests]

        outcome = matrix.run(program, cell, self.directory, self._names(cell), environment, requests)
        with contextlib.suppress(AssertionError):
            if outcome.parts["number of requests"] < count:
                eventually(lambda: len(requests()) >= count, 1)
        return outcome

    def _names(self, cell: Cell) -> dict[str, str]:
        if cell.matrix == "tls":
            url = self.names[cell.values["server"].upper()]
            return {**self.names, "PORT": url.rstrip("/").rpartition(":")[2]}
        path = "/".join(
            [
                cell.values["demand"] if cell.values["place"] != "proxy" else "none",
                cell.values["demand"] if cell.values["place"] != "origin" else "none",
                cell.values["event"],
            ]
        )
        scheme = cell.values["scheme"]
        return {
            **self.names, "PATH_OF_CELL": path, "SCHEME": f"--{scheme}", "PROXY_SCHEME": f"--proxy-{scheme}",
        }  # fmt: skip


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    daemon = Daemon(tmp_path_factory.mktemp("matrix-daemon"))
    is_older = daemon.call("daemon.info")["libcurl"]["profile"] != "multiplex"
    if not is_older:
        yield daemon
    daemon.stop()
    if is_older:
        pytest.skip("the daemon's libcurl is older than curl's")


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The current folder of the programs: the files that cells name."""
    directory = tmp_path_factory.mktemp("matrix")
    (directory / "file").write_text("of a file\n" * 3)
    (directory / "input").write_text(matrix.DATA["input"])
    (directory / "empty").write_text("")
    oneliners.install(directory / "path", CARPOOL)
    return directory


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all workers record what differs: a file for each matrix."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def check(place: Place, cells: list[Cell], records: Path) -> None:
    """Fail with the cells that differ otherwise than the rules say."""
    found: list[str] = []
    for cell in cells:
        code, differs = place.differences(cell)
        with (records / f"{cell.matrix}.jsonl").open("a") as file:
            file.write(json.dumps({"cell": dict(cell.values), "exit": code, "differs": differs}) + "\n")
        surprises = matrix.surprises(cell, code, differs)
        if surprises:
            lines = [f"    {name}: {differs.get(name, 'does not differ')}" for name in surprises]
            found.append("\n".join([str(cell), "  " + " ".join(cell.words(place._names(cell))), *lines]))
    assert not found, f"{len(found)} of {len(cells)} cells are not as the rules say\n" + "\n".join(found)
    if ALL:
        check_rules(cells[0].matrix, records)


def check_rules(name: str, records: Path) -> None:
    """Fail with rules that are about no cell, unless cells are still to run."""
    rows = [json.loads(line) for line in (records / f"{name}.jsonl").read_text().splitlines()]
    if len(rows) == len(CELLS[name]):
        assert matrix.unused(name, {Cell(name, row["cell"]): row["exit"] for row in rows}) == []


@pytest.fixture(scope="module")
def credentials(daemon: Daemon, directory: Path) -> Iterator[Place]:
    origin = CredentialPages()
    names = {"O": origin.url}
    yield Place(directory, [origin], names, daemon, f"{directory}/path/tool/curl")
    origin.stop()


@pytest.mark.parametrize("cells", chunks(CELLS["credentials"]), ids=lambda cells: str(cells[0]))
def test_credentials(cells: list[Cell], credentials: Place, records: Path) -> None:
    check(credentials, cells, records)


class Certificates:
    """The servers and files of the cells of TLS."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.authority = Authority(directory / "ca")
        self.foreign = Authority(directory / "foreign", "Another authority")
        self.person = issue_person(self.authority)
        self.stranger = self.foreign.issue("stranger")
        self.good = self.authority.issue("good")
        self.lists()

    def openssl(self, *words: str | Path) -> bytes:
        return subprocess.run(["openssl", *map(str, words)], cwd=self.directory, capture_output=True, check=True).stdout

    def lists(self) -> None:
        """Make lists of revoked certificates of both authorities."""
        for name, authority, revoked in [
            ("good", self.authority, None), ("revoked", self.authority, self.good), ("foreign", self.foreign, None),
        ]:  # fmt: skip
            (self.directory / f"{name}.index").write_text("")
            configuration = self.directory / f"{name}.cnf"
            configuration.write_text(
                f"[ca]\ndefault_ca=own\n[own]\ndatabase={self.directory}/{name}.index\ndefault_md=sha256\n"
                "default_crl_days=2\n"
            )
            common = ["ca", "-config", str(configuration), "-cert", str(authority.ca_file), "-keyfile"]
            key = str(authority.directory / "ca.key")
            if revoked is not None:
                self.openssl(*common, key, "-revoke", revoked.chain)
            self.openssl(*common, key, "-gencrl", "-out", f"{name}.crl")

    def common_name_alone(self) -> Certificate:
        """A certificate whose host is in the common name alone."""
        base = self.directory / "common"
        self.openssl(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost",
            "-keyout", f"{base}.key", "-out", f"{base}.csr",
        )  # fmt: skip
        self.openssl(
            "x509", "-req", "-in", f"{base}.csr", "-CA", self.authority.ca_file, "-CAkey",
            self.authority.directory / "ca.key", "-CAcreateserial", "-days", "2", "-out", f"{base}.pem",
        )  # fmt: skip
        return Certificate(Path(f"{base}.pem"), Path(f"{base}.key"))

    def self_signed(self) -> Certificate:
        base = self.directory / "own"
        self.openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=own", "-addext", f"subjectAltName={LOCAL}", "-keyout", f"{base}.key", "-out", f"{base}.pem",
        )  # fmt: skip
        return Certificate(Path(f"{base}.pem"), Path(f"{base}.key"))

    def below_another(self, name: str, *, is_whole: bool) -> Certificate:
        """A certificate of an authority below the first one; `is_whole`: the server sends that one's too."""
        inner = Authority(self.directory / name, f"Authority {name}")
        self.openssl(
            "req", "-new", "-key", inner.directory / "ca.key", "-subj", f"/CN=Authority {name}",
            "-addext", "basicConstraints=critical,CA:TRUE", "-out", f"{name}.csr",
        )  # fmt: skip
        self.openssl(
            "x509", "-req", "-in", f"{name}.csr", "-CA", self.authority.ca_file, "-CAkey",
            self.authority.directory / "ca.key", "-CAcreateserial", "-days", "2", "-copy_extensions", "copy",
            "-out", inner.ca_file,
        )  # fmt: skip
        made = inner.issue("leaf")
        if is_whole:
            made.chain.write_bytes(made.chain.read_bytes() + inner.ca_file.read_bytes())
        return made

    def pin(self, certificate: Path) -> str:
        key = self.openssl("x509", "-in", certificate, "-pubkey", "-noout")
        (self.directory / f"{certificate.stem}.pub").write_bytes(key)
        return matrix.pin_of(key)


@pytest.fixture(scope="module")
def tls(
    daemon: Daemon, directory: Path, squid: Squid, socks: Socks, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    made = Certificates(tmp_path_factory.mktemp("matrix-tls"))
    servers = {
        "GOOD": ScriptedOrigin(made.good),
        "NAMED": ScriptedOrigin(made.authority.issue("named", "DNS:localhost")),
        "OLD": ScriptedOrigin(made.authority.issue("old", days=-1)),
        "OTHER": ScriptedOrigin(made.authority.issue("other", "DNS:other.example")),
        "OWN": ScriptedOrigin(made.self_signed()),
        "FOREIGN": ScriptedOrigin(made.foreign.issue("foreign")),
        "LONELY": ScriptedOrigin(made.below_another("lonely", is_whole=False)),
        "CHAIN": ScriptedOrigin(made.below_another("whole", is_whole=True)),
        "COMMON": ScriptedOrigin(made.common_name_alone()),
        "TLS12": ScriptedOrigin(made.good), "TLS13": ScriptedOrigin(made.good), "MUTUAL": ScriptedOrigin(made.good),
        "MUTUAL12": ScriptedOrigin(made.good),
    }  # fmt: skip
    servers["TLS12"].speak(ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_2)
    servers["TLS13"].speak(ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_3)
    servers["MUTUAL12"].speak(ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_2)
    for name in ("MUTUAL", "MUTUAL12"):
        servers[name].require_certificate(made.authority.ca_file)
    base, person = made.directory, made.person
    folder = base / "folder"
    folder.mkdir()
    shutil.copy(made.authority.ca_file, folder / "ca.pem")
    made.openssl("rehash", folder)
    both = base / "both.pem"
    both.write_bytes(made.foreign.ca_file.read_bytes() + made.authority.ca_file.read_bytes())
    names = {
        **{name: origin.url for name, origin in servers.items()},
        "CA": str(made.authority.ca_file), "FOREIGN_CA": str(made.foreign.ca_file), "BOTH_CA": str(both),
        "OWN_CERT": str(base / "own.pem"), "GOOD_CERT": str(made.good.chain), "FOLDER": str(folder),
        "GOOD_LIST": str(base / "good.crl"), "REVOKED_LIST": str(base / "revoked.crl"),
        "FOREIGN_LIST": str(base / "foreign.crl"), "PIN": made.pin(made.good.chain),
        "WRONG_PIN": "sha256//" + "A" * 43 + "=", "CA_PIN": made.pin(made.authority.ca_file),
        "GOOD_KEY": str(base / "good.pub"), "CERT": str(person.chain), "KEY": str(person.key),
        "JOINED": str(person.key.with_suffix(".both")), "LOCKED": str(person.key.with_suffix(".locked")),
        "P12": str(person.key.with_suffix(".p12")), "FOREIGN_CERT": str(made.stranger.chain),
        "FOREIGN_KEY": str(made.stranger.key), "PROXY": f"http://127.0.0.1:{squid.plain}",
        "PROXY2": f"http://127.0.0.1:{squid.basic}", "PROXY_USER": f"{USER}:{PASSWORD}",
        "SECURE_PROXY": f"https://localhost:{squid.secure}", "SOCKS": f"127.0.0.1:{socks.plain}",
    }  # fmt: skip
    for name in ("NAMED", "COMMON"):
        names[name] = names[name].replace("127.0.0.1", "localhost")
    yield Place(directory, list(servers.values()), names, daemon, f"{directory}/path/tool/curl")
    for origin in servers.values():
        origin.stop()


@pytest.mark.parametrize("cells", chunks(CELLS["tls"]), ids=lambda cells: str(cells[0]))
def test_tls(cells: list[Cell], tls: Place, records: Path) -> None:
    check(tls, cells, records)


def test_a_wrong_program_is_found(credentials: Place, tmp_path: Path) -> None:
    """The comparison sees another exit code, another body and a missing request."""
    cell = next(cell for cell in CELLS["credentials"] if cell.values["demand"] == "digest")
    script = tmp_path / "wrong"
    script.write_text("#!/bin/sh\necho wrong\nexit 3\n")
    script.chmod(0o755)
    wrong = Place(credentials.directory, credentials.origins, credentials.names, credentials.daemon, str(script))
    assert {"exit code", "stdout", "number of requests", "json.http_code"} <= set(wrong.differences(cell)[1])


def test_a_rule_allows_neither_more_nor_less_than_it_names() -> None:
    usual = {axis: next(iter(values)) for axis, values in matrix.DATA["tls"]["axes"].items()}
    cell = Cell("tls", {**usual, "pin": "wrong"})
    assert matrix.surprises(cell, 90, ["json.certs", "json.num_certs"]) == []
    assert matrix.surprises(cell, 90, ["json.certs", "json.num_certs", "stdout"]) == ["stdout"]
    assert matrix.surprises(cell, 90, ["json.certs"]) == ["json.num_certs"]
    assert matrix.surprises(cell, 0, ["json.certs"]) == ["json.certs"]
    assert any("exit 90" in text for text in matrix.unused("tls", {cell: 0}))


def test_a_sample_has_each_value_and_the_pairs() -> None:
    for name, cells in CELLS.items():
        chosen = matrix.sample(cells, SEED)
        parts = set().union(*(matrix._parts(cell) for cell in chosen))
        assert parts == set().union(*(matrix._parts(cell) for cell in cells)), name
        assert {part for part in parts if len(part) == 2} == {
            (axis, value) for axis, values in matrix.DATA[name]["axes"].items() for value in values
        }
