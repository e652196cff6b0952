"""Getting a session: in a browser that this command waits for, or with a code pasted from any browser."""

from headgate_cli.login.browser import browser_login
from headgate_cli.login.errors import CodeMistyped, LoginFailed
from headgate_cli.login.paste import no_browser_login
from headgate_cli.login.server import Session

__all__ = ["CodeMistyped", "LoginFailed", "Session", "browser_login", "no_browser_login"]
