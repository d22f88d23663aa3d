"""Adding and removing passkeys. Scripts of the page speak JSON here, with the form's own token in
the header `X-CSRF-Token`."""

from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel

from api.accounts.passkeys import add_passkey, ask_to_add, remove_passkey
from api.accounts.service import confirm_password
from api.deps import (
    ClientAddressDep,
    CsrfDep,
    KernelDep,
    SettingsDep,
    SignedInDep,
    SignInLimitsDep,
    WriteDep,
)

router = APIRouter()


class PasswordIn(BaseModel):
    current_password: str


class PasskeyIn(BaseModel):
    """`credential` is the browser's PublicKeyCredential as JSON (WebAuthn level 3, §5.1.8)."""

    token: str
    name: str
    credential: dict[str, Any]


@router.post("/settings/passkeys/options", dependencies=[CsrfDep])
def begin_passkey(
    kernel: KernelDep,
    limits: SignInLimitsDep,
    address: ClientAddressDep,
    signed_in: SignedInDep,
    given: PasswordIn,
) -> dict[str, Any]:
    confirm_password(kernel, limits, signed_in, given.current_password, address=address)
    with kernel.store.write() as session:
        asked = ask_to_add(session, kernel.settings, signed_in)
    return {"token": asked.token, "options": asked.options}


@router.post("/settings/passkeys", dependencies=[CsrfDep])
def save_passkey(
    session: WriteDep, settings: SettingsDep, signed_in: SignedInDep, given: PasskeyIn
) -> dict[str, str]:
    add_passkey(
        session,
        settings,
        signed_in,
        token=given.token,
        credential=given.credential,
        name=given.name,
    )
    return {"location": "/settings/security?done=passkey"}


@router.post("/settings/passkeys/{passkey_id}/remove", dependencies=[CsrfDep])
def drop_passkey(session: WriteDep, signed_in: SignedInDep, passkey_id: str) -> Response:
    remove_passkey(session, signed_in.account_id, passkey_id)
    return RedirectResponse("/settings/security?done=removed", status_code=303)
