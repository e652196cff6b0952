"""The login that waits for a browser (RFC 8628)."""

import time
import webbrowser
from collections.abc import Callable

from headgate_cli.login.errors import LoginFailed
from headgate_cli.login.server import Refused, Server, Session
from headgate_cli.untrusted import one_line

WAIT_SECONDS = 300.0
_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


def browser_login(
    base_url: str,
    *,
    say: Callable[[str], None],
    open_page: Callable[[str], bool] = webbrowser.open,
    wait_seconds: float = WAIT_SECONDS,
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = time.monotonic,
) -> Session:
    """Open the approval page and wait until somebody has answered there; where no browser opens, the printed URL does.

    Raises LoginFailed when denied, when nobody answers within `wait_seconds`, or when the server cannot be reached
    at the start.
    """
    server = Server(base_url)
    device = server.begin()
    if not device.page_with_code.startswith(("https://", "http://")):
        # What opens addresses opens files and starts programs, too.
        raise LoginFailed("the server names no web page to approve this login on")
    say(f"Approve this login in your browser: {one_line(device.page_with_code)}")
    say(f"Its page has to show the code {one_line(device.user_code)}")
    if not _opened(open_page, device.page_with_code):
        say("No browser could be opened here: open the address above in any browser.")
    deadline = now() + min(wait_seconds, device.seconds)
    interval = device.interval
    while now() < deadline:
        sleep(min(interval, max(0.0, deadline - now())))
        try:
            answer = server.redeem({"grant_type": _GRANT, "device_code": device.device_code})
        except LoginFailed:
            # RFC 8628, 3.5: a connection that fails is tried again, more slowly.
            interval = min(interval * 2, 30.0)
            continue
        if isinstance(answer, Session):
            return answer
        match answer.error:
            case "authorization_pending" | "server_error":
                pass
            case "slow_down":
                interval += 5
            case "expired_token":
                break
            case _:
                raise LoginFailed(_sentence(answer))
    raise LoginFailed("Login timed out: nobody approved it within five minutes; run it again")


def _opened(open_page: Callable[[str], bool], url: str) -> bool:
    try:
        return open_page(url)
    except (webbrowser.Error, OSError):
        return False


def _sentence(refused: Refused) -> str:
    return refused.description or refused.error
