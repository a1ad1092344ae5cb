"""Schemes of authentication that are not supported: they are refused by name, or a warning names them."""

from __future__ import annotations

from typing import Any

import carpool
import pytest
from harness.command import OK, USAGE, Run
from origins.scripted import ScriptedOrigin
from test_credentials import CREDENTIAL, challenging, perform


@pytest.mark.parametrize("scheme", ["ntlm", "negotiate"])
def test_schemes_of_connections_are_refused_by_name(client: carpool.Client, run: Run, scheme: str) -> None:
    entry = {**CREDENTIAL, "schemes": ["basic", scheme]}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("request.perform", {"url": "http://127.0.0.1:1/", "credential": entry}),
        ("credentials.set", {"host": "a.test", **entry}),
        ("request.perform", {"url": "http://127.0.0.1:1/", "proxy": {"all": {"url": "http://127.0.0.1:1", **entry}}}),
    ]
    for method, params in calls:
        with pytest.raises(
            carpool.InvalidParamsError, match=rf"schemes\[1\]: {scheme} is not supported: .*curl --ntlm"
        ):
            client.call(method, **params)
    for option in [f"--{scheme}", f"--proxy-{scheme}"]:
        done = run("get", option, "-u", "ada:x", "http://127.0.0.1:1/")
        assert done.returncode == USAGE
        assert f"{option} is not supported".encode() in done.stderr and f"use curl {option}".encode() in done.stderr


@pytest.mark.parametrize(
    ("challenges", "schemes", "words"),
    [
        (["Negotiate", "NTLM"], None, "negotiate, ntlm"),
        (['Bearer realm="r"'], None, "bearer"),
        (['Digest realm="r", nonce="1", algorithm=SHA-384'], None, "digest with SHA-384"),
        (['Basic realm="r"'], ["digest"], "basic"),
        (["Negotiate", 'Basic realm="r"'], None, None),
        ([], None, None),
    ],
)
@pytest.mark.parametrize("place", ["request", "session"])
def test_a_credential_for_which_there_is_no_scheme_is_a_warning(
    client: carpool.Client,
    run: Run,
    origin: ScriptedOrigin,
    challenges: list[str],
    schemes: Any,
    words: str | None,
    place: str,
) -> None:
    url = origin.on("/w", challenging(*challenges))
    credential = CREDENTIAL | ({"schemes": schemes} if schemes else {})
    params: dict[str, Any] = {"credential": credential}
    if place == "session":
        client.call("credentials.set", host="127.0.0.1", **credential)
        params = {}
    record = perform(client, url, **params)
    assert (record["outcome"]["ok"], record["response"]["status"]) == (True, 401)
    if words is None:
        assert "warning" not in record
    else:
        assert f"the server offers {words}," in record["warning"]
    if place == "session":
        done = run("get", url)
        assert (done.returncode, done.stdout) == (OK, b"out")
        assert (b"carpool: warning: the credential was not used" in done.stderr) is (words is not None)
    # Without a credential there is nothing to warn of.
    bare = perform(client, url, **({"headers": {"Authorization": "Bearer x"}} if place == "session" else {}))
    assert "warning" not in bare
