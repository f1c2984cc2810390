"""Tokens and reveals: what stands for a person, and what a person may open."""

import pytest

from tests.web.conftest import Desk
from tests.web.pretend_grader import sealed_case
from web import people, recorder, reveals
from web.people import User
from web.reveals import Way
from web.store.models import RevealRow, TokenRow, UserRow

OWNER, GUEST = User(1, "owner", owner=True), User(2, "guest", owner=False)


@pytest.mark.parametrize(
    ("user", "used", "local", "way"),
    [
        (OWNER, 99, True, Way.OWNER),
        (OWNER, 0, False, Way.FREE),
        (OWNER, 3, False, None),
        (GUEST, 0, True, Way.FREE),
        (GUEST, 2, False, Way.FREE),
        (GUEST, 3, False, None),
    ],
)
def test_three_reveals_are_free_and_a_machines_owner_counts_none(
    user: User, used: int, local: bool, way: Way | None
) -> None:
    assert reveals.way_for(user, used, local=local) is way


def test_a_token_is_recognised_by_its_check() -> None:
    token = people.new_token()
    assert token.startswith("pfl_")
    assert people.well_formed(token)
    assert not people.well_formed(token[:-1] + ("a" if token[-1] != "a" else "b"))
    assert not people.well_formed(token + "\n")


@pytest.mark.redis
def test_only_the_hash_of_a_token_is_kept(house: Desk) -> None:
    with house.office.store.reading() as session:
        kept = session.query(TokenRow).one()
    assert kept.sha256 == people.digest(house.token)
    assert house.token not in str(vars(kept))


@pytest.mark.redis
def test_the_fourth_reveal_is_locked_and_opening_again_is_free(house: Desk) -> None:
    with house.office.store.writing() as session:
        row = UserRow(name="guest", owner=False, created_at=people.now(), session_epoch=0)
        session.add(row)
        session.flush()
        guest = people.user_of(row)
    token = people.give_token(house.office.store, guest, "t")
    paths = []
    for n in range(4):
        body = {"drill": "adder", "source": f"x = {n}", "kind": "submit"}
        sent = house.ask("POST", "/submissions", json=body, token=token).json
        recorder.record_report(house.signed(sent, 1, True, cases=[sealed_case(house.settings.secrets_dir)]))
        paths.append(f"/submissions/{sent['id']}/cases/negative")
    opened = [house.ask("POST", f"{path}/reveal", token=token).status_code for path in (paths[0], *paths)]
    assert opened == [200, 200, 200, 200, 402]
    assert house.ask("GET", "/me", token=token).json["reveals_left"] == 0
    assert house.ask("GET", paths[2], token=token).status_code == 200


@pytest.mark.redis
def test_the_owner_opens_without_limit_and_each_is_recorded(house: Desk) -> None:
    for n in range(5):
        sent = house.send(f"x = {n}")
        recorder.record_report(house.signed(sent, 1, True, cases=[sealed_case(house.settings.secrets_dir)]))
        assert house.ask("POST", f"/submissions/{sent['id']}/cases/negative/reveal").status_code == 200
    with house.office.store.reading() as session:
        assert [row.way for row in session.query(RevealRow)] == ["owner"] * 5
