"""The two kinds of Redis connection: one that must not keep anybody waiting, one that waits on purpose."""

from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

BLOCK_MS = 4_000


def hasty(url: str) -> Redis:
    """For requests: a Redis that is away is noticed within a second or two, and the database carries on alone."""
    return Redis.from_url(url, socket_connect_timeout=1, socket_timeout=2, retry=Retry(NoBackoff(), 1))


def patient(url: str) -> Redis:
    """For blocking reads of at most BLOCK_MS: the socket outwaits the command, else quiet would be an error."""
    wait_s = BLOCK_MS / 1000 + 6
    return Redis.from_url(url, socket_connect_timeout=1, socket_timeout=wait_s, retry=Retry(NoBackoff(), 1))


def working(url: str) -> Redis:
    """For a worker of RQ, which sets its own timeout to suit how long it blocks."""
    return Redis.from_url(url, socket_timeout=None)
