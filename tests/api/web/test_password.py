from starlette.testclient import TestClient

from backread.kernel import Kernel
from backread.store.models import Account
from tests.api.conftest import PASSWORD, sign_in
from tests.api.web.test_entry import form_token

NEW_PASSWORD = "seven green kettles"


def change(browser: TestClient, *, current: str, new: str) -> tuple[int, str]:
    token = form_token(browser.get("/settings/security").text)
    answer = browser.post(
        "/settings/password",
        data={"csrf_token": token, "current_password": current, "new_password": new},
    )
    return answer.status_code, answer.text


def test_a_new_password_signs_other_browsers_out_and_keeps_this_one(
    signed_in: TestClient, kernel: Kernel, owner: Account
) -> None:
    here = dict(signed_in.cookies)
    sign_in(signed_in, kernel, owner)
    elsewhere = dict(signed_in.cookies)
    signed_in.cookies.update(here)

    status, _ = change(signed_in, current=PASSWORD, new=NEW_PASSWORD)
    assert status == 303
    assert signed_in.get("/settings").status_code == 200

    signed_in.cookies.update(elsewhere)
    assert signed_in.get("/settings").headers["location"].startswith("/sign-in")


def test_the_old_password_is_asked_for_and_a_poor_new_one_refused(signed_in: TestClient) -> None:
    status, page = change(signed_in, current="not the password", new=NEW_PASSWORD)
    assert (status, "current password is wrong" in page) == (400, True)
    status, page = change(signed_in, current=PASSWORD, new="short")
    assert (status, "at least 10" in page) == (400, True)
