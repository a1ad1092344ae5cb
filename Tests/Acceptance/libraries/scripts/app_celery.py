"""Tasks of celery: a broker and results in the current folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import carpool
from celery import Celery
from celery.exceptions import SoftTimeLimitExceeded

FOLDER = Path(os.environ["TASKS"])
SERIALIZER = os.environ["SERIALIZER"]
app = Celery("tasks", broker="filesystem://", backend=f"file://{FOLDER / 'results'}")
app.conf.update(
    broker_transport_options={
        "data_folder_in": str(FOLDER / "queue"), "data_folder_out": str(FOLDER / "queue"),
        "control_folder": str(FOLDER / "control"), "polling_interval": 0.05,
    },
    task_serializer=SERIALIZER, result_serializer=SERIALIZER, accept_content=[SERIALIZER],
    worker_send_task_events=False,
)  # fmt: skip
# Of the process that forks the pool.
client = carpool.Client()


@app.task
def fetch(url: str) -> list[Any]:
    """Return what a GET gets, and the process that has sent it."""
    return [client.get(url).text, os.getpid()]


@app.task
def demand(url: str) -> str:
    """Raise for a status that is not a success."""
    return client.get(url, timeout=5).raise_for_status().text


@app.task(autoretry_for=(carpool.RequestError,), default_retry_delay=0, max_retries=3)
def insist(url: str) -> str:
    """Try again after any failure of the request."""
    return client.get(url).raise_for_status().text


@app.task(soft_time_limit=1)
def wait(url: str) -> str:
    """Is interrupted while it waits for an answer; the process and its client go on."""
    try:
        return client.get(url).text
    except SoftTimeLimitExceeded:
        return f"interrupted, then {client.get(f'{url}/after').text}"


@app.task
def mistake(url: str) -> str:
    """Call with a parameter that the daemon refuses."""
    return client.request("GET", url, timeout_ms="soon").text
