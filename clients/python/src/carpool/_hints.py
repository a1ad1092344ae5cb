"""The advice of the daemon in the words of this package.

The daemon names its own parameters, options of the command and methods; here are the arguments and methods to use.
Whole phrases are replaced, so that the text of a callback or of a file stays as it is.
"""

from __future__ import annotations

import re
from typing import Final

PHRASES: Final = (
    ("raise connect_timeout_ms", "raise timeout=, or its first number, timeout=(connect, read)"),
    ("raise resource_timeout_ms (--timeout)", "raise total="),
    ("raise timeout_ms", "raise timeout="),
    ("raise oauth2.refresh_timeout_ms", "raise refresh_timeout_ms of the interceptor oauth2"),
    ("raise max_ratio", "raise max_ratio="),
    ("raise max_body_bytes (--max-filesize)", "raise max_body_bytes="),
    ("set waits_for_connectivity to true", "pass waits_for_connectivity=True"),
    ("set trust.ca_file (--cacert) to the file", "set verify= to the path of the file"),
    ("trust.verify false (--insecure)", "verify=False"),
    ("set client_certificate (--cert) to the file", "set cert= to the path of the file"),
    ("check proxy (--proxy, and http_proxy", "check proxies= or proxy= (and http_proxy"),
    ("the user and the password of the proxy (--proxy-user)", "the user and the password in the URL of proxies="),
    ("no_proxy (--noproxy)", "no_proxy in proxies="),
    ("addresses (--connect-to, --resolve)", "addresses="),
    ('make it an upload (kind "upload")', 'make it an upload with kind="upload"'),
    ("raise redirect.max_hops", "raise max_hops in redirect="),
    ("set redirect.allow_downgrade", "set allow_downgrade in redirect="),
    ("omit serialize,", "omit serialize=,"),
    ("set one with session.set_credential", "set one with client.set_credential"),
    ("Create it first; see session.list.", 'Create it with client.create_session; see client.call("session.list").'),
    ("see request.list.", 'see client.call("request.list").'),
    ("See rpc.discover for", 'See client.call("rpc.discover") for'),
    ("See cache.stats for", "See client.cache.stats() for"),
    ("release bodies with body.release", 'release bodies with client.call("body.release")'),
)
# Options of the command in parentheses.
_OPTIONS: Final = re.compile(r" \(--?[a-z0-9][^()]*\)")


def in_python(hint: str | None) -> str | None:
    """Return a hint of the daemon with the names of this package."""
    if not hint:
        return hint
    for daemon, python in PHRASES:
        hint = hint.replace(daemon, python)
    return _OPTIONS.sub("", hint)
