"""The login that waits for a browser (RFC 8628)."""

import time
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Final

from headgate_cli.login.server import LoginFailed, LoginServer, LoginSession
from headgate_cli.untrusted import one_line

WAIT_SECONDS = 300.0
_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
# They take the terminal over, so that the login is not answered before a person leaves them.
_TEXT_BROWSERS: Final = ("www-browser", "links", "elinks", "lynx", "w3m")


def open_beside_the_terminal(url: str) -> bool:
    """Open the page in a browser with a window. Returns False if it was not opened; raises webbrowser.Error if there is
    no browser."""
    browser = webbrowser.get()
    # BROWSER may hold a path of the program.
    return Path(getattr(browser, "name", "")).name not in _TEXT_BROWSERS and browser.open(url)


def browser_login(
    base_url: str,
    *,
    say: Callable[[str], None],
    open_page: Callable[[str], bool] = open_beside_the_terminal,
    wait_seconds: float = WAIT_SECONDS,
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = time.monotonic,
) -> LoginSession:
    """Print and open the approval page, and wait for the answer there.

    Raises LoginFailed if the login is denied, if nobody answers within `wait_seconds`, or if the server cannot be
    reached at the start.
    """
    server = LoginServer(base_url)
    device = server.begin()
    if not device.page_with_code.startswith(("https://", "http://")):
        # `webbrowser.open` also opens files and starts programs.
        raise LoginFailed("the server sent no web address for approving the login: check the address of the server")
    say(f"Approve this login in your browser: {one_line(device.page_with_code)}")
    say(f"The page must show the code {one_line(device.user_code)}")
    if not _opened(open_page, device.page_with_code):
        say("No browser could be opened here: open the address above in any browser.")
    deadline = now() + min(wait_seconds, device.seconds)
    interval = device.interval
    while now() < deadline:
        sleep(min(interval, max(0.0, deadline - now())))
        try:
            answer = server.redeem({"grant_type": _GRANT, "device_code": device.device_code})
        except LoginFailed:
            # RFC 8628, 3.5: after a failed connection, poll more slowly.
            interval = min(interval * 2, 30.0)
            continue
        if isinstance(answer, LoginSession):
            return answer
        match answer.error:
            case "authorization_pending" | "server_error":
                pass
            case "slow_down":
                interval += 5
            case "expired_token":
                break
            case _:
                raise LoginFailed(answer.description or answer.error)
    raise LoginFailed("Login timed out: nobody approved it within five minutes; run `headgate login` again")


def _opened(open_page: Callable[[str], bool], url: str) -> bool:
    try:
        return open_page(url)
    except (webbrowser.Error, OSError):
        return False
