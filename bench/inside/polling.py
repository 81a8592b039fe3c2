"""Buyers whose open pages look for news: each in its own rhythm, over few connections, as a proxy passes them on."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field

from anchorgpu.services.ports import LOCALHOST
from bench.inside.visit import HOST

CONNECTIONS = 32


@dataclass
class Page:
    """An open page: its address, and the tag of what it shows."""

    path: str
    tag: str = ""


@dataclass
class Looks:
    """`seconds` from the moment that a look was due to its whole answer; statuses of the answers."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)


def poll(port: int, pages: list[Page], *, every: float, seconds: float) -> Looks:
    """All pages, spread evenly over the interval. A look that comes late is counted from when it was due."""
    return asyncio.run(_poll(port, pages, every, seconds))


async def _poll(port: int, pages: list[Page], every: float, seconds: float) -> Looks:
    looks, due = Looks(), asyncio.Queue[tuple[float, Page]]()
    senders = [asyncio.create_task(_send(port, due, looks)) for _ in range(min(CONNECTIONS, len(pages)))]
    begin = time.perf_counter()
    rounds = int(seconds / every)
    for number in range(rounds * len(pages)):
        moment = begin + number * every / len(pages)
        if (pause := moment - time.perf_counter()) > 0:
            await asyncio.sleep(pause)
        due.put_nowait((moment, pages[number % len(pages)]))
    await due.join()
    for sender in senders:
        sender.cancel()
    await asyncio.gather(*senders, return_exceptions=True)
    return looks


async def _send(port: int, due: "asyncio.Queue[tuple[float, Page]]", looks: Looks) -> None:
    reader, writer = await asyncio.open_connection(LOCALHOST, port)
    while True:
        moment, page = await due.get()
        try:
            status, closed = await _ask(reader, writer, page)
        except (asyncio.IncompleteReadError, ConnectionError):
            # The server lets go of a connection that was silent for a while; the look is made again.
            reader, writer = await asyncio.open_connection(LOCALHOST, port)
            status, closed = await _ask(reader, writer, page)
        looks.seconds.append(time.perf_counter() - moment)
        looks.statuses[status] += 1
        due.task_done()
        if closed:
            reader, writer = await asyncio.open_connection(LOCALHOST, port)


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, page: Page) -> tuple[int, bool]:
    lines = [
        f"GET {page.path} HTTP/1.1",
        f"Host: {HOST}",
        "X-Forwarded-Proto: https",
        "X-Forwarded-For: 203.0.113.7",
        "HX-Request: true",
    ]
    lines += [f"If-None-Match: {page.tag}"] if page.tag else []
    writer.write("\r\n".join([*lines, "", ""]).encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *rest = head.split("\r\n")
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest if line)
    }
    if "content-length" in headers:
        await reader.readexactly(int(headers["content-length"]))
    elif headers.get("transfer-encoding") == "chunked":
        while size := int(await reader.readuntil(b"\r\n"), 16):
            await reader.readexactly(size + 2)
        await reader.readuntil(b"\r\n")
    page.tag = headers.get("etag", "")
    return int(first.split()[1]), headers.get("connection") == "close"
