"""The login without a browser on this machine: a URL to open in any browser, and a code to paste back (RFC 7636)."""

import base64
import hashlib
import secrets
from collections.abc import Callable
from urllib.parse import urlencode

from headgate_cli.login.server import CodeMistyped, LoginFailed, LoginRefusal, LoginServer, LoginSession

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_CODE_LENGTH = 26
_CHECKSUM_LENGTH = 4
# Crockford's base32: letters that look like digits are read as these.
_READ_AS = str.maketrans({"I": "1", "L": "1", "O": "0"})


def no_browser_login(base_url: str, *, say: Callable[[str], None], ask: Callable[[str], str]) -> LoginSession:
    """Print the URL, ask for the code, and exchange it.

    Raises CodeMistyped if the code fails its checksum, before anything is sent; LoginFailed if the server refuses.
    """
    server = LoginServer(base_url)
    verifier = secrets.token_urlsafe(32)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    query = urlencode({"code_challenge": challenge, "code_challenge_method": "S256"})
    say(f"Open this address in any browser, and approve the login there: {server.base_url}/login?{query}")
    code = checked(ask("Paste the code that the page shows"))
    answer = server.redeem({"grant_type": "authorization_code", "code": code, "code_verifier": verifier})
    if isinstance(answer, LoginRefusal):
        raise LoginFailed(answer.description or answer.error)
    return answer


def checked(pasted: str) -> str:
    """The code without its checksum. Raises CodeMistyped unless the two belong together."""
    letters = "".join(pasted.split()).replace("-", "").upper().translate(_READ_AS)
    code, letters_of_checksum = letters[:_CODE_LENGTH], letters[_CODE_LENGTH:]
    if len(letters) != _CODE_LENGTH + _CHECKSUM_LENGTH or letters_of_checksum != checksum(code):
        raise CodeMistyped("the pasted code is incomplete or mistyped: run `headgate login --no-browser` again")
    return code


def checksum(code: str) -> str:
    """The first 20 bits of the code's SHA-256, as four letters."""
    number = int.from_bytes(hashlib.sha256(code.encode()).digest()[:4], "big") >> 12
    return "".join(_ALPHABET[number >> shift & 31] for shift in (15, 10, 5, 0))
