"""A sealed case opens with the private key alone; a signed report cannot be moved or changed."""

import os

import pytest
from nacl.public import PrivateKey

from judge.seal import SealBroken, from_text, is_signed, open_sealed, seal, signed, to_text
from tests.judge.test_report import case

KEY = os.urandom(32)
DOCUMENT = {"id": "s_1", "attempt": 2, "final": True, "report": {"verdict": "wrong"}, "cases": []}


def test_a_sealed_case_opens_with_the_private_key() -> None:
    private = PrivateKey.generate()
    sealed = from_text(to_text(seal(case(), bytes(private.public_key))))
    assert open_sealed(sealed, bytes(private)) == case()


def test_a_sealed_case_shows_nothing() -> None:
    sealed = seal(case(sentence="CANARY" * 20), bytes(PrivateKey.generate().public_key))
    assert b"CANARY" not in sealed


def test_another_key_or_a_changed_byte_opens_nothing() -> None:
    private = PrivateKey.generate()
    sealed = seal(case(), bytes(private.public_key))
    for key, content in [(bytes(PrivateKey.generate()), sealed), (bytes(private), sealed[:-1] + b"x")]:
        with pytest.raises(SealBroken):
            open_sealed(content, key)


def test_a_signed_document_is_known_again() -> None:
    assert is_signed(signed(DOCUMENT, KEY), KEY)


@pytest.mark.parametrize(
    "change",
    [
        {"id": "s_2"},
        {"attempt": 3},
        {"final": False},
        {"report": {"verdict": "accepted"}},
        {"cases": [{}]},
        {"mac": ""},
        {"mac": None},
        {"mac": "é"},
        {"more": 1},
        {"id": None},
        {"attempt": True},
    ],
)
def test_any_change_breaks_the_signature(change: dict[str, object]) -> None:
    assert not is_signed({**signed(DOCUMENT, KEY), **change}, KEY)
    assert not is_signed(signed(DOCUMENT, KEY), os.urandom(32))
    assert not is_signed({}, KEY)
