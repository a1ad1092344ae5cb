"""The `.netrc` file of the command, with the real curl beside it, and of the Python client."""

from __future__ import annotations

import base64
import netrc
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import carpool
import pytest
from harness.command import OK, USAGE, Run, runner
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import ScriptedOrigin

HERE = "machine 127.0.0.1 login ada password secret\n"
THERE = "machine localhost login bob password hidden\n"
DEFAULT = "default login eve password open\n"

# The text of the file, the options, the URL, and what the last server gets as user and password. HERE:// is a URL of
# the machine 127.0.0.1, AWAY:// one that redirects from there to localhost.
SAME_AS_CURL = [
    (HERE, "", "HERE://", "ada:secret"),
    (THERE, "", "HERE://", ""),
    ("", "", "HERE://", ""),
    (DEFAULT, "", "HERE://", "eve:open"),
    (DEFAULT + HERE, "", "HERE://", "eve:open"),
    (HERE + DEFAULT, "", "HERE://", "ada:secret"),
    ("default\n" + HERE, "", "HERE://", "ada:secret"),
    (HERE, "", "AWAY://", ""),
    (HERE + THERE, "", "AWAY://", "bob:hidden"),
    (HERE + DEFAULT, "", "AWAY://", "eve:open"),
    (THERE, "", "AWAY://", "bob:hidden"),
    (HERE, "-u own:word", "HERE://", "own:word"),
    (HERE, "-u own:word --netrc-optional", "HERE://", "own:word"),
    (HERE + THERE, "-u own:word", "AWAY://", ""),
    (HERE, "", "HERE://ada@", "ada:secret"),
    (HERE, "", "HERE://ada:other@", "ada:secret"),
    (HERE, "--netrc-optional", "HERE://ada:other@", "ada:other"),
    (THERE, "", "HERE://ada:other@", "ada:other"),
    (HERE + "machine 127.0.0.1 login a%b password two\n", "", "HERE://a%25b@", "a%b:two"),
    (HERE + "machine 127.0.0.1 login x password two\n", "", "HERE://x@", "x:two"),
    (HERE + "machine 127.0.0.1 login x password two\n", "", "HERE://", "ada:secret"),
    ("machine 127.0.0.1\n\tlogin\n ada\n\tpassword secret", "", "HERE://", "ada:secret"),
    ("MACHINE 127.0.0.1 PASSWORD secret LOGIN ada", "", "HERE://", "ada:secret"),
    ('machine "127.0.0.1" login "a b" password "c\\"d\\\\e"', "", "HERE://", 'a b:c"d\\e'),
    ('machine 127.0.0.1 login ada password p"q#r', "", "HERE://", 'ada:p"q#r'),
    ("machine 127.0.0.1 login ada # comment\n  # password x\npassword y", "", "HERE://", "ada:y"),
    ("# " + HERE + HERE.replace("secret", "two"), "", "HERE://", "ada:two"),
    ("machine 127.0.0.1 account x login ada password secret", "", "HERE://", "ada:secret"),
    ("macdef init\n" + HERE + "\n" + HERE.replace("secret", "two"), "", "HERE://", "ada:two"),
    ("machine 127.0.0.1 login ada", "", "HERE://", "ada:"),
    ("machine 127.0.0.1 password secret", "", "HERE://", ":secret"),
    ("machine 127.0.0.1 login x\n" + HERE, "", "HERE://", "ada:secret"),
    ("machine LOCALHOST login bob password hidden", "", "AWAY://", "bob:hidden"),
    ("machine localhost. login bob password hidden", "", "AWAY://", ""),
    ('machine 127.0.0.1 login ada password "secret', "--netrc-optional", "HERE://", ""),
    (HERE, "--netrc-optional", "HERE://", "ada:secret"),
]


def identity(exchange_field: str) -> str:
    return base64.b64decode(exchange_field.removeprefix("Basic ")).decode()


@pytest.fixture
def visit(origin: ScriptedOrigin, other: ScriptedOrigin) -> Callable[[Callable[[str], object], str], str]:
    """Return a function that calls another with the URL of a row, and returns what the last server has received."""
    there = other.url.replace("127.0.0.1", "localhost") + "/there"
    origin.on("/away", lambda exchange: exchange.reply(302, headers=[("Location", there)]))

    def call(request: Callable[[str], object], url: str) -> str:
        before = len(other.requests)
        request(
            re.sub("(HERE|AWAY)://(.*)", rf"http://\g<2>{origin.url[7:]}/", url) + ("away" if "AWAY" in url else "")
        )
        assert len(other.requests) == before + ("AWAY" in url)
        last = (other if "AWAY" in url else origin).requests[-1]
        return identity(next(iter(last.values("authorization")), ""))

    return call


@pytest.mark.parametrize(("text", "options", "url", "expected"), SAME_AS_CURL)
def test_the_command_takes_from_the_file_what_curl_takes(
    run: Run, visit: Callable[..., str], tmp_path: Path, text: str, options: str, url: str, expected: str
) -> None:
    file = tmp_path / "netrc"
    file.write_text(text)
    arguments = ["--netrc-file", str(file), *options.split()]

    def by_command(url: str) -> None:
        done = run("get", *arguments, url)
        assert done.returncode == OK, done.stderr

    def by_curl(url: str) -> None:
        command = ["curl", "-q", "-sSL", "--noproxy", "*", "-o", "/dev/null", *arguments, url]
        subprocess.run(command, check=True, timeout=PATIENCE_SECONDS)

    assert visit(by_command, url) == expected
    if newest_curl():
        assert visit(by_curl, url) == expected


def newest_curl() -> bool:
    """Whether the installed curl has the rules of 8.14.1. Older ones do not know quotes and send other logins."""
    text = subprocess.run(["curl", "--version"], capture_output=True, check=True, timeout=PATIENCE_SECONDS).stdout
    version = re.search(rb"libcurl/(\d+)\.(\d+)", text)
    return version is not None and tuple(map(int, version.groups())) >= (8, 14)


@pytest.mark.parametrize(
    ("text", "url", "expected"),
    [
        # curl sends the password of the other user.
        (HERE, "HERE://eve@", "eve:"),
        # curl uses no password without a login if the URL has a user.
        ("machine 127.0.0.1 password secret", "HERE://eve@", "eve:secret"),
        # curl sends an empty user and password.
        ("machine 127.0.0.1 login ada\nmachine other login x", "HERE://", "ada:"),
        # curl reads the macro as the rest of the default.
        ("default\nmacdef m\n" + HERE + "\n", "HERE://", ""),
        # curl takes the words that follow another machine for the beginning of a machine.
        ("machine other login machine password x\n" + HERE, "HERE://", "ada:secret"),
    ],
)
def test_where_the_command_differs_from_curl(
    run: Run, visit: Callable[..., str], tmp_path: Path, text: str, url: str, expected: str
) -> None:
    (tmp_path / "netrc").write_text(text)
    assert visit(lambda url: run("get", "--netrc-file", "netrc", url), url) == expected


def test_the_file_in_the_home_directory(daemon: Daemon, visit: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / ".netrc").write_text(HERE)
    environment = {**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket), "HOME": str(tmp_path)}
    run = runner(environment, tmp_path)
    for options, expected in [(["-n"], "ada:secret"), (["--netrc-optional"], "ada:secret"), ([], "")]:
        assert visit(lambda url, options=options: run("get", *options, url), "HERE://") == expected
    report = run("doctor", "-n", "http://127.0.0.1/").stdout.decode()
    assert "credential   user ada, basic, at once (.netrc)\n" in report
    assert "secret" not in report
    (tmp_path / ".netrc").unlink()
    assert visit(lambda url: run("get", "--netrc-optional", url), "HERE://") == ""
    done = run("get", "-n", "http://127.0.0.1:1/")
    assert (done.returncode, b".netrc: No such file" in done.stderr) == (USAGE, True), done.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'machine 127.0.0.1 login ada password "secret', b"a word in quotes has no end"),
        (b"machine 127.0.0.1 login ada password \xff", b"not UTF-8"),
        (b"machine 127.0.0.1 login a:da password secret", b"the .netrc file: a colon"),
        (b'machine 127.0.0.1 login ada password "sec\\nret"', b"the .netrc file: a control character"),
        (b"#" * 131_073, b"netrc"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(
    run: Run, origin: ScriptedOrigin, tmp_path: Path, content: bytes, message: bytes
) -> None:
    (tmp_path / "netrc").write_bytes(content)
    done = run("get", "--netrc-file", "netrc", origin.url)
    assert done.returncode != OK
    assert message in done.stderr
    assert b"secret" not in done.stderr
    assert not origin.requests


def test_logins_of_other_machines_do_not_matter(run: Run, visit: Callable[..., str], tmp_path: Path) -> None:
    """A file may have more machines than a request may bring, and names that are no hosts."""
    others = [f'machine {name} login a:b password "c\\n"\n' for name in ["a/b", "*", "", "x" * 300, "ü", "e.org"]]
    many = [f"machine host{number}.example.com login a password b\n" for number in range(100)]
    (tmp_path / "netrc").write_text("".join([*others, *many, HERE]))
    assert visit(lambda url: run("get", "--netrc-file", "netrc", url), "HERE://") == "ada:secret"


def test_digest_with_a_file(run: Run, origin: ScriptedOrigin, tmp_path: Path) -> None:
    (tmp_path / "netrc").write_text(HERE)
    challenge = [("WWW-Authenticate", 'Digest realm="r", nonce="n", qop="auth"')]
    origin.on("/d", lambda exchange: exchange.reply(401, headers=challenge))
    run("get", "--netrc-file", "netrc", "--digest", f"{origin.url}/d")
    assert [next(iter(request.values("authorization")), "")[:21] for request in origin.requests] == [
        "",
        'Digest username="ada"',
    ]


def test_python_reads_a_file_if_it_is_asked(
    daemon: Daemon, visit: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError):
        carpool.NetrcAuth()
    (tmp_path / ".netrc").write_text(HERE + THERE)
    (tmp_path / ".netrc").chmod(0o600)
    (tmp_path / "other").write_text("machine a/b login c password d\n" + DEFAULT)
    home, other = carpool.NetrcAuth(), carpool.NetrcAuth(tmp_path / "other")
    assert "secret" not in repr(home)
    with daemon.client() as client:
        for auth, url, expected in [
            (None, "HERE://", ""),
            (home, "HERE://", "ada:secret"),
            (home, "AWAY://", "bob:hidden"),
            (other, "HERE://", "eve:open"),
            (other, "AWAY://", "eve:open"),
        ]:
            assert visit(lambda url, auth=auth: client.get(url, auth=auth), url) == expected
        with pytest.raises(ValueError, match="credentials"):
            client.get("http://127.0.0.1:1/", auth=home, credentials=[])
    (tmp_path / "other").write_text("machine")
    with pytest.raises(netrc.NetrcParseError):
        carpool.NetrcAuth(tmp_path / "other")
    many = "".join(f"machine host{number}.example.com login a password b\n" for number in range(100))
    (tmp_path / "other").write_text(many + HERE)
    with daemon.client() as client:
        auth = carpool.NetrcAuth(tmp_path / "other")
        assert visit(lambda url: client.get(url, auth=auth), "HERE://") == "ada:secret"


def test_a_url_that_cannot_be_parsed_is_refused_by_the_daemon(client: carpool.Client, tmp_path: Path) -> None:
    (tmp_path / "netrc").write_text(HERE)
    with pytest.raises(carpool.RequestError) as caught:
        client.get("http://[::1", auth=carpool.NetrcAuth(tmp_path / "netrc"))
    assert caught.value.name == "invalid_url"
