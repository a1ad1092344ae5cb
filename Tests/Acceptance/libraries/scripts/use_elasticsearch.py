"""elasticsearch: its nodes of requests and, in tasks, of httpx, over TLS: bulk, scroll, retries, compression."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import Any

import httpx
from carpool.httpx import AsyncCarpoolTransport
from elastic_transport import HttpxAsyncHttpNode, RequestsHttpNode
from elasticsearch import AsyncElasticsearch, ConnectionTimeout, Elasticsearch, NotFoundError, helpers
from loopback import Origin, adapter, answer, authority, in_turn, serving, status

PRODUCT = [("X-Elastic-Product", "Elasticsearch")]
CarpoolAdapter = adapter().CarpoolAdapter


class CarpoolNode(RequestsHttpNode):
    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.session.mount("https://", CarpoolAdapter())


class AsyncCarpoolNode(HttpxAsyncHttpNode):
    def __init__(self, config: Any) -> None:
        super().__init__(config)
        transport = AsyncCarpoolTransport(verify=config.ca_certs)
        self.client = httpx.AsyncClient(base_url=self.base_url, transport=transport, headers=self._headers)


def lines(request: Any) -> list[Any]:
    body = gzip.decompress(request.body) if request.values("content-encoding") == ["gzip"] else request.body
    return [json.loads(line) for line in body.splitlines()]


def bulk(exchange: Any) -> None:
    count = len(lines(exchange.request)) // 2
    answer(
        exchange,
        {"errors": False, "items": [{"index": {"status": 201, "_id": str(each)}} for each in range(count)]},
        200,
        PRODUCT,
    )


def blocking(origin: Origin, ca_file: str) -> None:
    with Elasticsearch(
        origin.url, node_class=CarpoolNode, ca_certs=ca_file, basic_auth=("u", "p"), http_compress=True, max_retries=2,
    ) as client:  # fmt: skip
        origin.json("/", {"version": {"number": "9.5.1"}, "tagline": "You Know, for Search"}, 200, PRODUCT)
        assert client.info()["version"]["number"] == "9.5.1"
        assert origin.requests[-1].values("authorization") == ["Basic dTpw"]

        origin.on("/_bulk", bulk)
        actions = [{"_index": "i", "_id": str(number), "text": "größe"} for number in range(1_200)]
        assert helpers.bulk(client, actions) == (1_200, [])
        sent = [line for request in origin.requests if request.target == "/_bulk" for line in lines(request)]
        assert sum("text" in line for line in sent) == 1_200

        hits = {
            "_scroll_id": "s",
            "hits": {"hits": [{"_id": "1", "_source": {"a": 1}}]},
            "_shards": {"total": 1, "successful": 1, "skipped": 0},
        }
        none = hits | {"hits": {"hits": []}}
        origin.json("/i/_search", hits, 200, PRODUCT)
        origin.on("/_search/scroll", in_turn(status(200, hits, PRODUCT), status(200, none, PRODUCT)))
        assert [hit["_id"] for hit in helpers.scan(client, index="i")] == ["1", "1"]
        assert origin.requests[-1].method == "DELETE" and lines(origin.requests[-1]) == [{"scroll_id": "s"}]

        origin.on(
            "/i/_doc/1", in_turn(status(503, {}, PRODUCT), status(429, {}, PRODUCT), status(200, {"_id": "1"}, PRODUCT))
        )
        assert client.get(index="i", id="1")["_id"] == "1"
        assert client.indices.exists(index="i").meta.status == 200
        origin.json("/i/_doc/2", {"found": False}, 404, PRODUCT)
        try:
            client.get(index="i", id="2")
        except NotFoundError as error:
            assert error.body == {"found": False}
        else:
            raise AssertionError("no NotFoundError")
        gate = origin.hold("/_cat/indices")
        try:
            client.options(request_timeout=0.3, max_retries=0).cat.indices()
        except ConnectionTimeout:
            gate.set()
        else:
            raise AssertionError("no ConnectionTimeout")


async def from_tasks(origin: Origin, ca_file: str) -> None:
    async with AsyncElasticsearch(origin.url, node_class=AsyncCarpoolNode, ca_certs=ca_file) as client:
        actions = [{"_index": "i", "_id": str(number), "text": "größe"} for number in range(700)]
        assert await helpers.async_bulk(client, actions) == (700, [])
        found = await asyncio.gather(*(client.get(index="i", id="1") for _ in range(10)))
        assert [each["_id"] for each in found] == ["1"] * 10


made = authority()
with serving(made.issue("search")) as origin:
    origin.on("/i", lambda exchange: exchange.reply(200, headers=PRODUCT))
    blocking(origin, str(made.ca_file))
    asyncio.run(from_tasks(origin, str(made.ca_file)))
