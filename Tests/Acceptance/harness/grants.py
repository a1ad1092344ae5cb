"""A client that obtains its tokens from the daemon: its parameters, and its options of the command."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import carpool
import pytest
from origins.tokens import Tokens

ID, SECRET = "cron job", "s3cret&of the client"
BASIC = base64.b64encode(b"cron%20job:s3cret%26of%20the%20client").decode()
CLIENT = {"client_id": ID, "client_secret": SECRET}


def options(tokens: Tokens, secret: Path, *more: str) -> list[str]:
    """Return the options of the command for the client."""
    client = ["--oauth2-token-url", tokens.token_url, "--oauth2-client-id", ID]
    return [*client, "--oauth2-client-secret", f"@{secret}", *more]


def failure(client: carpool.Client, url: str, **options: Any) -> carpool.RequestError:
    with pytest.raises(carpool.RequestError) as caught:
        client.get(url, **options)
    return caught.value
