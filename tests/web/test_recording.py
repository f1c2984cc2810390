"""One verdict each: what the recorder takes, and what it does not."""

import json

import pytest
from sqlalchemy import func, select

from tests.web.conftest import Desk
from tests.web.pretend_grader import sealed_case
from web import recorder, verdicts
from web.ledger import Attempt
from web.queue import Whereabouts
from web.store.models import ReportRow, SealedCaseRow

pytestmark = pytest.mark.redis


def rows(house: Desk, table: type) -> int:
    with house.office.store.reading() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def test_the_same_report_twice_changes_nothing(house: Desk) -> None:
    sent = house.send()
    report = house.signed(sent, 1, False)
    assert verdicts.take(house.office, report)
    before = house.get(sent)
    assert not verdicts.take(house.office, report)
    assert house.get(sent) == before
    assert rows(house, ReportRow) == 1


def test_a_second_verdict_never_replaces_the_first(house: Desk) -> None:
    sent = house.send()
    recorder.record_report(house.signed(sent, 1, False, verdict="wrong"))
    recorder.record_report(house.signed(sent, 1, True, verdict="accepted"))
    assert house.get(sent)["verdict"] == "wrong"
    assert not house.get(sent)["cases_ready"]


def test_a_report_of_an_overtaken_attempt_changes_nothing(house: Desk) -> None:
    sent = house.send()
    verdicts.fail(house.office, Attempt(sent["id"], 1))
    assert not verdicts.take(house.office, house.signed(sent, 1, False, verdict="accepted"))
    assert house.get(sent)["verdict"] is None
    assert verdicts.take(house.office, house.signed(sent, 2, False, verdict="wrong"))


def test_a_final_report_alone_brings_verdict_and_cases(house: Desk) -> None:
    sent = house.send()
    cases = [sealed_case(house.settings.secrets_dir)]
    recorder.record_report(house.signed(sent, 1, True, cases=cases))
    found = house.get(sent)
    assert (found["verdict"], found["cases_ready"], found["groups"][0]["case"]) == ("wrong", True, "sealed")


def test_a_final_report_twice_keeps_one_case(house: Desk) -> None:
    sent = house.send()
    cases = [sealed_case(house.settings.secrets_dir)]
    for _ in range(2):
        recorder.record_report(house.signed(sent, 1, True, cases=cases))
    assert rows(house, SealedCaseRow) == 1


@pytest.mark.parametrize("field", ["id", "attempt", "final", "report", "cases", "mac"])
def test_a_report_that_was_touched_is_refused(house: Desk, field: str) -> None:
    sent, other = house.send(), house.send("y = 2")
    report = house.signed(sent, 1, False)
    touched = {"id": other["id"], "attempt": 2, "final": True, "report": {}, "cases": [1], "mac": "00" * 32}
    assert not verdicts.take(house.office, {**report, field: touched[field]})
    assert house.get(sent)["verdict"] is None
    assert house.get(other)["verdict"] is None


@pytest.mark.parametrize("document", [None, 7, "text", [], {}, {"mac": "é", "id": "s", "attempt": 1}])
def test_a_report_that_is_none_is_refused(house: Desk, document: object) -> None:
    assert not verdicts.take(house.office, document)


def test_a_judge_error_is_retried_and_never_recorded_as_the_first_attempt_says(house: Desk) -> None:
    sent = house.send()
    recorder.record_report(house.signed(sent, 1, False, verdict="judge_error"))
    recorder.record_report(house.signed(sent, 1, True, verdict="judge_error"))
    assert house.get(sent)["verdict"] is None
    assert house.row(sent).attempt == 2


def test_settling_an_attempt_twice_costs_one_attempt(house: Desk) -> None:
    sent = house.send()
    for _ in range(2):
        verdicts.settle(house.office, Attempt(sent["id"], 1))
    assert house.row(sent).attempt == 2


def test_settle_leaves_an_attempt_alone_whose_job_still_waits(house: Desk) -> None:
    sent = house.send()
    recorder.settle(sent["id"], 1)
    assert house.row(sent).attempt == 1


def test_a_retry_waits_a_little_before_it_is_sent(house: Desk) -> None:
    sent = house.send()
    verdicts.fail(house.office, Attempt(sent["id"], 1))
    row = house.row(sent)
    assert row.sent_at is None
    assert row.due_at > row.created_at


def test_a_cancelled_submission_is_recorded_as_cancelled_and_stays_so(house: Desk) -> None:
    sent = house.send()
    house.ask("DELETE", f"/submissions/{sent['id']}")
    assert house.office.belt.whereabouts([(sent["id"], 1)]) == [Whereabouts.ENDED]
    recorder.record_cancel(sent["id"])
    assert house.get(sent)["verdict"] == "cancelled"
    assert not verdicts.take(house.office, house.signed(sent, 1, True, verdict="accepted"))


def test_nobody_but_its_user_cancels_a_submission(house: Desk) -> None:
    sent = house.send()
    recorder.record_cancel(sent["id"])
    assert house.get(sent)["verdict"] is None


def test_a_verdict_that_comes_before_a_cancel_stands(house: Desk) -> None:
    sent = house.send()
    recorder.record_report(house.signed(sent, 1, True, verdict="accepted"))
    assert house.ask("DELETE", f"/submissions/{sent['id']}").json["verdict"] == "accepted"
    recorder.record_cancel(sent["id"])
    assert house.get(sent)["verdict"] == "accepted"


def test_a_running_grading_is_stopped_by_cancel(house: Desk) -> None:
    house.grader()
    house.recorder()
    sent = house.send("hang")
    house.until(lambda: house.get(sent)["state"] == "running")
    house.ask("DELETE", f"/submissions/{sent['id']}")
    assert house.finished(sent)["verdict"] == "cancelled"
    house.until(lambda: not house.redis.exists(f"attempt:{sent['id']}:1"), "the horse lives on")


def test_the_recorder_runs_only_the_jobs_on_its_list(house: Desk) -> None:
    queue = house.office.belt._queue("record")
    marker = house.settings.state / "marker"
    queue.enqueue_call("os.mkdir", args=[str(marker)], job_id="evil")
    job = queue.enqueue_call("web.recorder.record_cancel", args=["s_none"], job_id="callback")
    house.redis.hset(job.key, "success_callback_name", "os.mkdir")
    house.redis.hset("rq:job:garbled", mapping={"data": b"\x80\x04.", "created_at": "2026-01-01T00:00:00Z"})
    house.redis.rpush("rq:queue:record", "garbled")
    house.recorder()
    sent = house.send()
    recorder_took = house.signed(sent, 1, True, verdict="accepted")
    queue.enqueue_call("web.recorder.record_report", args=[recorder_took])
    assert house.finished(sent)["verdict"] == "accepted"
    assert not marker.exists()
    assert not house.redis.exists("rq:job:evil", "rq:job:callback", "rq:job:garbled")


def test_the_source_stands_in_no_description_of_a_job(house: Desk) -> None:
    sent = house.send("CANARY = 1")
    assert b"CANARY" not in (house.redis.hget(f"rq:job:grade-{sent['id']}-1", "description") or b"")


def test_a_job_says_what_the_grader_needs_and_no_more(house: Desk) -> None:
    sent = house.send("x = 1")
    payload = house.office.belt._fetch(f"grade-{sent['id']}-1").args[0]
    assert json.loads(json.dumps(payload)) == {
        "id": sent["id"],
        "attempt": 1,
        "drill": "adder",
        "revision": sent["revision"],
        "source": "x = 1",
        "kind": "submit",
    }
