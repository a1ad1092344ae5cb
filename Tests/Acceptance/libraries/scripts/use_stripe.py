"""stripe: forms, idempotent retries after 500 and a lost connection, pages, files, and errors of cards."""

from __future__ import annotations

import io
import os
from urllib.parse import parse_qs

import requests
import stripe
from loopback import Origin, adapter, form_parts, in_turn, reset, serving, status


def charges(origin: Origin, client: stripe.StripeClient) -> None:
    customer = {"id": "cus_1", "object": "customer", "name": "Zoë"}
    again = [("Stripe-Should-Retry", "true")]
    origin.on("/v1/customers", in_turn(status(500, {}, again), reset, status(200, customer)))
    assert client.v1.customers.create({"name": "Zoë", "metadata": {"a": "b"}}).name == "Zoë"
    assert [parse_qs(request.body.decode()) for request in origin.requests] == [
        {"name": ["Zoë"], "metadata[a]": ["b"]}
    ] * 3
    keys = [request.values("idempotency-key") for request in origin.requests]
    assert keys[0] == keys[1] == keys[2] and keys[0], keys
    assert origin.requests[-1].values("authorization") == ["Bearer sk_test_1"]

    page = {"object": "list", "url": "/v1/customers", "has_more": True, "data": [customer]}
    last = page | {"has_more": False, "data": [customer | {"id": "cus_2"}]}
    origin.on("/v1/customers", in_turn(status(200, page), status(200, last)))
    assert [each.id for each in client.v1.customers.list().auto_paging_iter()] == ["cus_1", "cus_2"]

    declined = {"error": {"type": "card_error", "code": "card_declined", "message": "no", "param": "p"}}
    origin.json("/v1/payment_intents", declined, 402)
    try:
        client.v1.payment_intents.create({"amount": 1, "currency": "eur"})
    except stripe.CardError as error:
        assert error.code == "card_declined"
    else:
        raise AssertionError("no CardError")


def files(origin: Origin, client: stripe.StripeClient) -> None:
    content = os.urandom(300_000)
    origin.json("/v1/files", {"id": "file_1", "object": "file"})
    file = io.BytesIO(content)
    file.name = "evidence.pdf"
    assert client.v1.files.create({"file": file, "purpose": "dispute_evidence"}).id == "file_1"
    assert form_parts(origin.requests[-1])["file"][1] == content


with serving() as origin:
    session = requests.Session()
    session.mount("http://", adapter().CarpoolAdapter())
    client = stripe.StripeClient(
        "sk_test_1", http_client=stripe.RequestsClient(session=session), max_network_retries=2,
        base_addresses={"api": origin.url, "files": origin.url},
    )  # fmt: skip
    charges(origin, client)
    files(origin, client)
