"""Options of the commands that send a request, with the names that they have in curl."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest
from harness.command import OK, RPC_ERROR, TIMED_OUT, TRANSFER_FAILED, USAGE, Run
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin


def test_the_options_of_install_scripts_are_accepted(run: Run, origin: ScriptedOrigin) -> None:
    page = origin.on("/page", lambda exchange: exchange.reply(body=b"page"))
    moved = origin.on("/moved", lambda exchange: exchange.reply(302, headers=[("Location", page)]))
    done = run("get", "-fsSL", "--compressed", "--connect-timeout", "5", "-m", "20", moved)
    assert (done.returncode, done.stdout, done.stderr) == (OK, b"page", b"")


@pytest.mark.parametrize("command", ["get", "head", "post", "put", "patch", "delete"])
def test_the_fields_are_sent(run: Run, origin: ScriptedOrigin, command: str) -> None:
    origin.on("/page", lambda exchange: exchange.reply(body=b""))
    options = ["-A", "tool/1", "-e", "http://from.test/", "-r", "0-9,-5"]
    assert run(command, *options, f"{origin.url}/page").returncode == OK
    sent = origin.requests[-1]
    assert sent.values("user-agent") == ["tool/1"]
    assert sent.values("referer") == ["http://from.test/"]
    assert sent.values("range") == ["bytes=0-9,-5"]


@pytest.mark.parametrize(
    ("options", "coding"),
    [
        (["-r", "0-9"], ["identity"]),
        (["-H", "Range: bytes=0-9"], ["identity"]),
        (["-r", "0-9", "-H", "Accept-Encoding: br"], ["br"]),
        (["-r", "0-9", "--compressed"], None),
        ([], None),
    ],
)
def test_a_range_is_one_of_the_bytes_themselves(
    run: Run, origin: ScriptedOrigin, options: list[str], coding: list[str] | None
) -> None:
    origin.on("/page", lambda exchange: exchange.reply(body=b""))
    assert run("get", *options, f"{origin.url}/page").returncode == OK
    sent = origin.requests[-1].values("accept-encoding")
    assert sent == coding if coding else "gzip" in sent[0]


def test_the_texts_of_several_data_are_one_form(run: Run, origin: ScriptedOrigin) -> None:
    url = origin.on("/form", lambda exchange: exchange.reply(body=exchange.request.body))
    assert run("post", "-d", "a=1", "--data", "b=2", "-d", "c", url).stdout == b"a=1&b=2&c"
    assert origin.requests[-1].values("content-type") == ["application/x-www-form-urlencoded"]
    for options in (["-d", "@file"], ["--json", "{}"], ["-T", "file"], ["-F", "a=b"]):
        for words in ([*options, "-d", "a=1"], ["-d", "a=1", *options]):
            done = run("post", *words, url)
            assert done.returncode == USAGE
            assert b"only -d with a text may be repeated" in done.stderr


def test_the_number_of_redirects(run: Run, origin: ScriptedOrigin) -> None:
    loop = f"{origin.url}/loop"
    origin.on("/loop", lambda exchange: exchange.reply(302, headers=[("Location", loop)]))
    for number in (0, 2):
        before = len(origin.requests)
        done = run("get", "--max-redirs", str(number), loop)
        assert done.returncode == TRANSFER_FAILED
        assert f"more than {number} redirects\nhint: raise --max-redirs" in done.stderr.decode()
        assert len(origin.requests) - before == number + 1
    done = run("get", "--max-redirs", "65", loop)
    assert (done.returncode, b"--max-redirs takes a number from 0 to 64, not '65'" in done.stderr) == (USAGE, True)


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/page", "/page?q=a%20b%26c&na%C3%AFve=%3D&e="),
        ("/page?", "/page?q=a%20b%26c&na%C3%AFve=%3D&e="),
        ("/page?x=1#part", "/page?x=1&q=a%20b%26c&na%C3%AFve=%3D&e="),
    ],
)
def test_the_query_is_encoded_and_added(run: Run, origin: ScriptedOrigin, path: str, target: str) -> None:
    origin.on("/page", lambda exchange: exchange.reply(body=b""))
    done = run("get", "--query", "q=a b&c", "--query", "naïve==", "--query", "e=", origin.url + path)
    assert done.returncode == OK
    assert origin.requests[-1].target == target


def test_a_url_without_a_scheme_is_http(run: Run, origin: ScriptedOrigin) -> None:
    origin.on("/page", lambda exchange: exchange.reply(body=b"page"))
    for host in ("127.0.0.1", "localhost"):
        assert run("get", f"{host}:{origin.port}/page?u=http://other.test/").stdout == b"page"


def test_the_head_alone(run: Run, nginx: Nginx) -> None:
    url = f"{nginx.http}/hello.txt"
    done = run("get", "-I", url)
    assert done.returncode == OK
    assert done.stdout.startswith(b"HTTP/1.1 200\r\n")
    assert done.stdout.endswith(b"\r\n\r\n")
    assert run("get", "-sI", url).stdout.splitlines()[0] == b"HTTP/1.1 200"


def test_the_file_has_the_name_of_the_url(run: Run, nginx: Nginx, tmp_path: Path) -> None:
    assert run("get", "-O", f"{nginx.http}/hello.txt?x=/y").returncode == OK
    assert [path.name for path in tmp_path.iterdir()] == ["hello.txt"]
    for path in ("", "/", "/a/", "/a/..", "?x=/name"):
        done = run("get", "-O", nginx.http + path)
        assert done.returncode == USAGE
        assert b"has no file name" in done.stderr
        assert b"hint: name the file with -o FILE" in done.stderr
    for options in (["-o", "other"], ["--lines"], ["--sse"], ["--stream"]):
        assert run("get", "-O", *options, f"{nginx.http}/hello.txt").returncode == USAGE
    assert [path.name for path in tmp_path.iterdir()] == ["hello.txt"]


def test_the_doctor_takes_the_same_words(run: Run, nginx: Nginx) -> None:
    host = nginx.http.removeprefix("http://")
    done = run("doctor", "-O", "-A", "tool", "--query", "a=b", f"{host}/hello.txt")
    assert done.returncode == OK
    assert f"{nginx.http}/hello.txt?a=b".encode() in done.stdout
    doctor, get = run("doctor", "-O", host), run("get", "-O", host)
    assert (doctor.returncode, doctor.stderr) == (get.returncode, get.stderr)


def test_the_time_limits(run: Run, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/never")
    done = run("get", "-m", "0.2", f"{origin.url}/never")
    assert done.returncode == TIMED_OUT
    gate.set()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-r", "x"], "--range takes FIRST-LAST, FIRST- or -COUNT, not 'x'"),
        (["--query", "x"], "--query takes NAME=VALUE, not 'x'"),
        (["-A", ""], "the value of --user-agent is empty"),
        (["-Z"], "-Z is an option of carpool curl"),
        (["--no-keepalive"], "--no-keepalive is an option of carpool curl, which takes the command line of curl"),
        (["-R"], "-R is an option of carpool curl, which takes the command line of curl"),
        (["a==b"], "'a==b' is not a URL; did you mean --query 'a=b'?"),
        (["X-Token:abc"], "'X-Token:abc' is not a URL; did you mean -H 'X-Token: abc'?"),
        (["n:=7"], "'n:=7' is not a URL; did you mean --json '{\"n\": 7}'?"),
        (["a=b"], "'a=b' is not a URL; did you mean -d 'a=b'?"),
        (["file=@photo.png"], "'file=@photo.png' is not a URL; did you mean -F 'file=@photo.png'?"),
        (["--outptu", "x"], "unknown option --outptu; did you mean --output?"),
        (["-o", ""], "the value of --output is empty"),
        (["-w", "@missing"], "-w cannot read the file 'missing': No such file or directory"),
        (["--data-binary", "x"], "-d @FILE sends a file byte for byte here"),
        (["--pretty", "yes"], "--pretty takes auto, always or never, not 'yes'"),
    ],
)
def test_a_wrong_value_is_named_before_anything_is_sent(
    run: Run, origin: ScriptedOrigin, words: list[str], message: str
) -> None:
    done = run("get", *words, origin.url)
    assert done.returncode == USAGE
    assert message in done.stderr.decode()
    assert not origin.requests


def test_refused_values_are_named_by_their_options(run: Run, origin: ScriptedOrigin, tmp_path: Path) -> None:
    for words, message in [
        (["-X", "A B"], '--request: not a request method: "A B"'),
        (["-H", "X: a\nY: b"], "--header: header X: the value must not contain CR, LF"),
        (["-o", "folder/"], "--output: the path ends with a /"),
        (["--cacert", "missing"], "--cacert: cannot open missing: No such file or directory"),
        (["-E", "missing:password"], "--cert: cannot open missing: No such file or directory"),
    ]:
        done = run("get", *words, origin.url)
        assert (done.returncode, message in done.stderr.decode()) == (RPC_ERROR, True), done.stderr
    done = run("post", "-F", "a=@missing", origin.url)
    assert (done.returncode, b"cannot read the body: open missing: No such file" in done.stderr) == (USAGE, True)
    for words, hint in [
        (["-o", "none/file", origin.url], "make the directory before, with mkdir -p"),
        (["ftp://a.test/"], "for another protocol, carpool curl runs the curl on PATH"),
        (["http://a.test:99999/"], "check the URL: http[s]://HOST[:PORT]/PATH"),
    ]:
        done = run("get", *words)
        assert (done.returncode, done.stderr.decode().splitlines()[-1]) == (TRANSFER_FAILED, f"hint: {hint}")
    assert [request.target for request in origin.requests] in ([], ["/"])


def test_the_text_of_write_out(run: Run, origin: ScriptedOrigin, tmp_path: Path) -> None:
    page = origin.on("/page", lambda exchange: exchange.reply(404, b"page"))
    moved = origin.on("/moved", lambda exchange: exchange.reply(302, headers=[("Location", page)]))
    text = "%{http_code} %{num_redirects} %{url_effective} %{size_download} %{exitcode}\\n"
    assert run("get", "-w", text, moved).stdout.decode() == f"page404 1 {page} 4 0\n"
    assert run("get", "-s", "-o", "/dev/null", "-w", "%{http_code}", moved).stdout == b"404"
    assert run("get", "-o", "file", "-w", "%{http_code}", moved).stdout == b"404"
    (tmp_path / "format").write_text("%{method}\n")
    assert run("post", "-d", "x", "-w", "@format", page).stdout == b"pagePOST"
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    done = run("get", "-w", "%{http_code} %{exitcode}", f"http://127.0.0.1:{port}/")
    assert (done.returncode, done.stdout) == (TRANSFER_FAILED, b"000 7")
    done = run("get", "-w", "%{nothing}%{http_code}", page)
    assert (done.stdout, done.stderr) == (b"page404", b"carpool: unknown --write-out variable: 'nothing'\n")


def test_write_out_knows_what_the_command_did(run: Run, origin: ScriptedOrigin) -> None:
    page = origin.on("/page", lambda exchange: exchange.reply(404, b"page"))
    moved = origin.on("/moved", lambda exchange: exchange.reply(302, headers=[("Location", "/page")]))
    text = "%{exitcode} %{errormsg}%{onerror} failed"
    assert run("get", "--fail", "-w", text, page).stdout.decode() == f"5 HTTP status 404 from {page} failed"
    assert run("get", "-s", "-o", "file", "-w", text, page).stdout == b"0 "
    text = "%{redirect_url} %{filename_effective}"
    assert run("get", "--no-location", "-o", "file", "-w", text, moved).stdout.decode() == f"{page} file"
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/page"
    done = run("get", "-X", "PUT", "-w", "%{exitcode} %{method} %{scheme} %{url_effective}", url)
    assert done.stdout.decode() == f"7 PUT http {url}"


def test_a_dry_run_prints_a_line_of_curl_and_sends_nothing(run: Run, origin: ScriptedOrigin) -> None:
    done = run("post", "--dry-run", "-u", "u:secret", "-d", "a=b", f"{origin.url}/page")
    assert done.returncode == OK
    line = done.stdout.decode()
    assert line.startswith("curl ") and "--data-binary 'a=b'" in line and f"'{origin.url}/page'" in line
    assert "secret" not in line
    assert not origin.requests


@pytest.mark.parametrize(
    "words",
    [
        ["post", "-F", "title=it's", "-F", "f=@file;type=text/x"],
        ["get", "-s", "-o", "out"],
        ["get", "-f", "-b", "jar", "-w", "%{http_code}"],
        ["put", "-T", "file"],
    ],
)
def test_the_line_of_a_dry_run_does_the_same(
    run: Run, variables: dict[str, str], origin: ScriptedOrigin, tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / "file").write_text("content")
    (tmp_path / "jar").write_text("127.0.0.1\tFALSE\t/\tFALSE\t0\ta\tb\n")
    url = origin.on("/page", lambda exchange: exchange.reply(body=b"page"))
    line = run(*words, "--dry-run", url)
    assert (line.returncode, line.stderr) == (OK, b"")
    assert not origin.requests

    def made(done: subprocess.CompletedProcess[bytes]) -> tuple[object, ...]:
        request = origin.requests[-1]
        boundary = request.values("content-type")[:1]
        sent = request.body.replace(boundary[0].partition("boundary=")[2].encode(), b"B") if boundary else request.body
        fields = sorted((name, value) for name, value in request.headers if name.lower() != "content-type")
        out = tmp_path / "out"
        return done.returncode, done.stdout, request.method, fields, sent, out.exists() and out.read_bytes()

    mine = made(run(*words, url))
    (tmp_path / "out").unlink(missing_ok=True)
    environment = {name: value for name, value in variables.items() if name != "LD_LIBRARY_PATH"}
    shell = ["sh", "-c", line.stdout.decode()]
    theirs = made(subprocess.run(shell, cwd=tmp_path, env=environment, capture_output=True, timeout=60, check=False))
    assert theirs == mine


def test_a_dry_run_says_that_secrets_are_hidden(run: Run, origin: ScriptedOrigin) -> None:
    done = run("get", "--dry-run", "-u", "u:secret", f"{origin.url}/page")
    assert b"-u 'u:(hidden)'" in done.stdout
    assert done.stderr == b"carpool: the line has (hidden) in place of secrets\n"


def test_verbose_prints_the_fields_without_secrets(run: Run, origin: ScriptedOrigin) -> None:
    url = origin.on("/page", lambda exchange: exchange.reply(headers=[("X-Answer", "b"), ("Set-Cookie", "c=secret")]))
    lines = run("get", "-v", "-H", "X-Own: a", "-H", "Authorization: secret", url).stderr.decode().splitlines()
    for line in (f"> GET {url}", "> X-Own: a", "> Authorization: (hidden)", "< http/1.1 200", "< X-Answer: b"):
        assert line in lines
    assert not any("secret" in line for line in lines)


def test_json_is_laid_out_if_it_is_asked_for(run: Run, origin: ScriptedOrigin) -> None:
    text = b'{"n": 1.50, "n": [], "s": "\\u00e9{}", "l": [1,{"x":null}]}'
    url = origin.on("/json", lambda exchange: exchange.reply(body=text, headers=[("Content-Type", "application/json")]))
    assert run("get", url).stdout == text
    laid_out = (
        b'{\n  "n": 1.50,\n  "n": [],\n  "s": "\\u00e9{}",\n  "l": [\n    1,\n    {\n      "x": null\n    }\n  ]\n}\n'
    )
    assert run("get", "--pretty", "always", url).stdout == laid_out
    broken = origin.on("/broken", lambda exchange: exchange.reply(body=b"{", headers=[("Content-Type", "text/json")]))
    assert run("get", "--pretty", "always", broken).stdout == b"{"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ls", "-a"], "unknown option -a; did you mean --all?"),
        (["GET", "http://localhost/"], "unknown command GET; did you mean get?"),
        (["Post"], "unknown command Post; did you mean post?"),
        (["daemon", "stpo"], "daemon takes one of start, stop, status, restart, not 'stpo'; did you mean stop?"),
        (["daemon", "statsu"], "daemon takes one of start, stop, status, restart, not 'statsu'; did you mean status?"),
        (["cache", "lst"], "cache takes one of ls, get, why, purge, stats, not 'lst'; did you mean ls?"),
        (["completion", "bsh"], "completion takes one of bash, zsh, fish, requests, not 'bsh'; did you mean bash?"),
        (["get", "--oauth2-secret"], "unknown option --oauth2-secret; did you mean --oauth2-client-secret?"),
        (["session"], "unknown command session; use: carpool call session.list, or a request with --session NAME"),
        (["upload"], "unknown command upload; use: carpool put -T FILE URL"),
    ],
)
def test_what_was_meant_is_suggested(run: Run, words: list[str], message: str) -> None:
    done = run(*words)
    assert done.returncode == USAGE
    assert done.stderr.decode().splitlines()[0] == f"carpool: {message}"


def test_hosts_with_ports_are_urls(run: Run, origin: ScriptedOrigin) -> None:
    host, port = origin.url.removeprefix("http://").split(":")
    urls = [f"{host}:{port}", f"localhost:{port}/?a==b", f"{host}:{port}/a=b", f"ada:secret@{host}:{port}/user"]
    assert run("get", *urls).returncode == OK
    assert [request.target for request in origin.requests] == ["/", "/?a==b", "/a=b", "/user"]


SECRET_FROM_INPUT = ["--oauth2-token-url", "http://127.0.0.1:1/", "--oauth2-client-id", "a"]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["-d", "@-", "-H", "@-"], "-H @- and -d @-"),
        (["--json", "@-", "-b", "-"], "-b - and --json @-"),
        (["-T", "-", "-w", "@-"], "-w @- and -T -"),
        (["-H", "@-", "-H", "@-"], "-H @- and -H @-"),
        (["-d", "@/dev/fd/0", "-H", "@/dev/stdin"], "-H @/dev/stdin and -d @/dev/fd/0"),
        (["-b", "-", "--input-file", "-"], "-b - and --input-file -"),
        ([*SECRET_FROM_INPUT, "--oauth2-client-secret", "@-", "-d", "@-"], "--oauth2-client-secret @- and -d @-"),
    ],
)
def test_standard_input_is_the_value_of_one_option(
    run: Run, origin: ScriptedOrigin, words: list[str], names: str
) -> None:
    done = run("post", *words, origin.url, stdin=b"X-Secret: 1\n")
    message = f"{names} read standard input, which can be read once: use a file for one of them"
    assert (done.returncode, message in done.stderr.decode()) == (USAGE, True), done.stderr
    assert not origin.requests


def test_the_user_of_a_url_may_have_a_plain_host(run: Run) -> None:
    done = run("get", "--dry-run", "user@localhost/x")
    assert (done.returncode, b"localhost/x" in done.stdout) == (OK, True), done.stderr
