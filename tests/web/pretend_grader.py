"""A grader that grades by the words in the source: a real RQ worker on the real queues under the real job name.

`accepted` and `wrong` end so; `hang` lives and never answers; `die` kills its own horse, `raise` raises, with `once`
in the first attempt only; `silent` reports through its return value alone; `mute` gives the verdict, then dies.
"""

import os
import signal
import sys
import threading
import time
import types
from pathlib import Path
from typing import Any

from redis import Redis
from rq import Queue, Worker

from judge import seal
from judge.report import Case
from judge.verdict import Verdict
from tests.web.conftest import signed

SECRETS = Path(os.environ.get("PREFILL_SECRETS", "."))
URL = os.environ.get("PREFILL_REDIS_URL", "")


def case() -> Case:
    return Case(
        group="negative",
        title="Negative numbers add up",
        test="test_negative",
        promise="CANARY-CASE",
        verdict=Verdict.WRONG,
        sentence="expected -2, got 2",
        steps=(),
        first_bad_step=1,
        expected="-2",
        actual="2",
        path="",
        label=None,
        calls=1,
        shrunk_from=None,
        note=None,
        output=None,
        repro="def test(): ...",
    )


def sealed_case(secrets_dir: Path) -> dict[str, str]:
    public_key = (secrets_dir / "case_public_key").read_bytes()
    return {"group": "negative", "sealed": seal.to_text(seal.seal(case(), public_key))}


def grade_submission(payload: dict[str, Any]) -> dict[str, Any]:
    redis = Redis.from_url(URL)
    name, attempt, source = payload["id"], payload["attempt"], payload["source"]
    threading.Thread(target=_beat, args=(redis, f"attempt:{name}:{attempt}"), daemon=True).start()
    redis.xadd(f"events:{name}", {"event": "state", "data": '{"state":"running"}'})
    _misbehave(source, attempt)
    verdict = "accepted" if "accepted" in source else "wrong"
    cases = [] if verdict == "accepted" else [sealed_case(SECRETS)]
    final = signed(SECRETS, name, attempt, True, verdict, cases)
    if "silent" in source:
        return final
    _report(redis, signed(SECRETS, name, attempt, False, verdict))
    if "mute" in source:
        os.kill(os.getpid(), signal.SIGKILL)
    _report(redis, final)
    redis.delete(f"attempt:{name}:{attempt}")
    return final


def _misbehave(source: str, attempt: int) -> None:
    if "once" in source and attempt > 1:
        return
    if "die" in source:
        os.kill(os.getpid(), signal.SIGKILL)
    if "raise" in source:
        raise RuntimeError("the judge is at fault")
    while "hang" in source:
        time.sleep(0.1)


def _report(redis: Redis, document: dict[str, Any]) -> None:
    Queue("record", connection=redis, serializer="json").enqueue_call("web.recorder.record_report", args=[document])


def _beat(redis: Redis, key: str) -> None:
    while True:
        redis.set(key, b"1", ex=3)
        time.sleep(0.5)


if __name__ == "__main__":
    pretended = types.ModuleType("judge.worker")
    pretended.grade_submission = grade_submission  # type: ignore[attr-defined]
    sys.modules["judge.worker"] = pretended
    connection = Redis.from_url(URL, socket_timeout=None)
    Worker(["grade-run", "grade-submit"], connection=connection, serializer="json").work(logging_level="ERROR")
