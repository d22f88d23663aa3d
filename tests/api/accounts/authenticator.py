"""A security key in software: what a device answers to WebAuthn, and how it can lie."""

import hashlib
import json
import os
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url, encode_cbor

_PRESENT, _VERIFIED, _ATTESTED = 0x01, 0x04, 0x40


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


@dataclass
class Authenticator:
    """One passkey at one origin. Every field may be bent by a test."""

    origin: str
    party: str
    key: ec.EllipticCurvePrivateKey = field(default_factory=_new_key)
    credential_id: bytes = field(default_factory=lambda: os.urandom(32))
    sign_count: int = 0
    user_handle: str = ""
    checks_its_owner: bool = True

    def create(self, options: dict[str, Any], **bent: Any) -> dict[str, Any]:
        """The answer to `navigator.credentials.create`."""
        self.user_handle = options["user"]["id"]
        numbers = self.key.public_key().public_numbers()
        x, y = numbers.x.to_bytes(32, "big"), numbers.y.to_bytes(32, "big")
        public_key = encode_cbor(bent.get("public_key", {1: 2, 3: -7, -1: 1, -2: x, -3: y}))
        length = len(self.credential_id).to_bytes(2, "big")
        attested = b"\0" * 16 + length + self.credential_id + public_key
        attestation = {
            "fmt": "none",
            "attStmt": {},
            "authData": self._data(_ATTESTED, bent) + attested,
        }
        response = {
            "clientDataJSON": self._client_data("webauthn.create", options, bent),
            "attestationObject": bytes_to_base64url(encode_cbor(attestation)),
            "transports": bent.get("transports", ["internal"]),
        }
        return self._credential(response)

    def get(self, options: dict[str, Any], **bent: Any) -> dict[str, Any]:
        """The answer to `navigator.credentials.get`."""
        self.sign_count += 1
        data = self._data(0, bent)
        client_data = self._client_data("webauthn.get", options, bent)
        digest = hashlib.sha256(base64url_to_bytes(client_data)).digest()
        signature = self.key.sign(data + digest, ec.ECDSA(hashes.SHA256()))
        response = {
            "clientDataJSON": client_data,
            "authenticatorData": bytes_to_base64url(data),
            "signature": bytes_to_base64url(signature),
            "userHandle": bent.get("user_handle", self.user_handle),
        }
        return self._credential(response)

    def _data(self, flags: int, bent: dict[str, Any]) -> bytes:
        flags |= _PRESENT | (_VERIFIED if self.checks_its_owner else 0)
        count = bent.get("sign_count", self.sign_count)
        party = hashlib.sha256(bent.get("party", self.party).encode()).digest()
        return party + bytes([flags]) + int(count).to_bytes(4, "big")

    def _client_data(self, kind: str, options: dict[str, Any], bent: dict[str, Any]) -> str:
        data = {
            "type": bent.get("type", kind),
            "challenge": bent.get("challenge", options["challenge"]),
            "origin": bent.get("origin", self.origin),
            "crossOrigin": False,
        }
        return bytes_to_base64url(json.dumps(data).encode())

    def _credential(self, response: dict[str, Any]) -> dict[str, Any]:
        identity = bytes_to_base64url(self.credential_id)
        return {
            "id": identity,
            "rawId": identity,
            "type": "public-key",
            "response": response,
            "clientExtensionResults": {},
        }
