"""Operating: how each room says that it is ready to work."""

import contextlib
import http.client
import json
import socket
from collections.abc import Callable
from pathlib import Path

import redis

_LINE = 160
Ready = Callable[[int], str | None]


def redis_ready(url: str, sentence: str) -> Ready:
    def ready(_pid: int) -> str | None:
        with contextlib.suppress(redis.RedisError, OSError), redis.Redis.from_url(url) as client:
            return sentence if client.ping() else None
        return None

    return ready


def keeper_ready(run: Path) -> Ready:
    return lambda _pid: _sentence(keeper_status(run))


def keeper_status(run: Path) -> dict[str, object]:
    """What the keeper says of itself; empty while none answers."""
    with contextlib.suppress(OSError, ValueError), socket.socket(socket.AF_UNIX) as line:
        line.settimeout(5)
        line.connect(str(run / "keeper.sock"))
        line.sendall(b'{"op":"status"}\n')
        status = json.loads(line.makefile("rb").readline(1_000_000))
        return status if isinstance(status, dict) and status.get("ok") else {}
    return {}


def _sentence(status: dict[str, object]) -> str | None:
    """Its choice in one line; why no stronger wall works here may be long, and stands in the log."""
    if not status:
        return None
    why = str(status.get("why") or status.get("sandbox"))
    return why if len(why) <= _LINE else f"{why.split('. ')[0]}. (Why no other: see keeper.log.)"


def worker_ready(url: str, sentence: str) -> Ready:
    """A worker is ready when it stands in RQ's register under its own process id (older entries outlive a crash)."""

    def ready(pid: int) -> str | None:
        with contextlib.suppress(redis.RedisError, OSError), redis.Redis.from_url(url) as client:
            workers = client.smembers("rq:workers")
            return sentence if any(client.hget(key, "pid") == str(pid).encode() for key in workers) else None
        return None

    return ready


def web_ready(host: str, port: int, sentence: str) -> Ready:
    def ready(_pid: int) -> str | None:
        line = http.client.HTTPConnection(host, port, timeout=2)
        try:
            line.request("GET", "/healthz")
            return sentence if line.getresponse().status == 200 else None
        except (OSError, http.client.HTTPException):
            return None
        finally:
            line.close()

    return ready
