"""What leaves the grader: failing cases sealed to the web's key, reports signed with the host's. Pure.

A sealed case can be opened only with the private key, which no grader holds. A report's MAC covers the whole document
and the submission and attempt it belongs to, so a report cannot be moved to another submission or an older attempt.
"""

import hashlib
import hmac
import json
from base64 import b64decode, b64encode
from typing import Any

from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, PublicKey, SealedBox

from judge.report import Case


class SealBroken(ValueError):
    """The bytes were not sealed to this key, or were changed."""


def seal(case: Case, public_key: bytes) -> bytes:
    return SealedBox(PublicKey(public_key)).encrypt(canonical(case.to_json()))


def open_sealed(sealed: bytes, private_key: bytes) -> Case:
    try:
        plain = SealedBox(PrivateKey(private_key)).decrypt(sealed)
    except CryptoError as error:
        raise SealBroken("this case cannot be opened with this key") from error
    return Case.from_json(json.loads(plain))


def to_text(sealed: bytes) -> str:
    return b64encode(sealed).decode()


def from_text(text: str) -> bytes:
    return b64decode(text, validate=True)


def canonical(value: Any) -> bytes:
    """One byte string for one JSON value, whatever the order of its keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def sign(content: bytes, key: bytes, submission: str, attempt: int) -> str:
    """The MAC in hex. The lengths of the parts stand in it, so that no two splits are alike."""
    fence = canonical([submission, attempt])
    message = len(fence).to_bytes(8, "big") + fence + content
    return hmac.new(key, message, hashlib.sha256).hexdigest()


def signed(document: dict[str, Any], key: bytes) -> dict[str, Any]:
    """The document of `record_report` with its `mac`: over everything in it but the MAC."""
    bare = {name: value for name, value in document.items() if name != "mac"}
    return {**bare, "mac": sign(canonical(bare), key, bare["id"], bare["attempt"])}


def is_signed(document: dict[str, Any], key: bytes) -> bool:
    """Whether the document's MAC is ours. Never raises for a document of a wrong shape."""
    mac, submission, attempt = document.get("mac"), document.get("id"), document.get("attempt")
    if not (isinstance(mac, str) and mac.isascii() and isinstance(submission, str) and type(attempt) is int):
        return False
    return hmac.compare_digest(signed(document, key)["mac"], mac)
