"""Failures of a question to the collector."""

from collections.abc import Mapping
from typing import Final

from headgate_engine.checker.messages import PROTOCOL
from headgate_engine.errors import Invalid, NotReady, Unavailable

NOT_IN_BUILD: Final = "component_not_in_build"
"""The checker's word for a text that needs a component which its reduced build lacks."""


SHUT_DOWN: Final = "The collector's checker is shut down"


class Refused(Exception):
    """The checker understood the question and cannot answer it; `code` is a stable word of that operation."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class UnknownGate(Invalid):
    """The collector has no such feature gate, or it cannot be changed."""

    code = "unknown_feature_gate"
    at = ("body", "feature_gates")


class Exceeded(Refused):
    """The question took more time or memory than it may, and the process ended. The code is `too_costly`."""


class ProcessFailed(Exception):
    """A collector's process crashed, hung, or answered nonsense; the text says which."""


class OtherProtocol(ProcessFailed):
    """A collector's process speaks another protocol than this engine."""

    def __init__(self, version: object, number: object) -> None:
        spoken = f"speaks protocol {number}" if isinstance(number, int) else "states no protocol"
        super().__init__(
            f"of {str(version)[:40]!r} {spoken}, and this Headgate speaks {PROTOCOL}: build it again with "
            "`make collector`, or use the Headgate that it came with"
        )


class CheckerFailed(Unavailable):
    """The check process failed on this question. Another process may not.

    `crash` is what Go's runtime reported if the process crashed, empty if it failed in another way. `answered` is set
    if the process had answered other questions, of which one may have begun what crashed it.
    """

    code = "checker_failed"
    no_fault = True

    def __init__(self, detail: str, crash: str = "", *, answered: bool = False) -> None:
        super().__init__(detail)
        self.crash = crash
        self.answered = answered


class Retired(CheckerFailed):
    """The binary was replaced while the question waited for a process; its successor can answer it."""


class CheckerNotStarted(CheckerFailed):
    """No check process could be started, whatever the question."""

    code = "checker_not_started"
    no_fault = False


class Unusable(CheckerFailed):
    """This binary cannot be started, does not say what it is, or speaks another protocol."""

    code = "collector_unusable"
    no_fault = False


def not_started(error: ProcessFailed) -> CheckerFailed:
    """The reason why a collector whose process did not get ready cannot be asked."""
    kind = Unusable if isinstance(error, OtherProtocol) else CheckerNotStarted
    return kind(f"The collector's checker {error}")


class CheckerUnreachable(Unavailable):
    """The function that has the collectors could not be asked, or its answer was malformed."""

    code = "checker_unreachable"


class CollectorNotFetched(CheckerUnreachable):
    """A collector version that is in the bucket could not be brought to where it runs, or is not the announced one."""


class CheckerBusy(Unavailable):
    """No check process became free in time. Starting more would make it worse."""

    code = "checker_busy"
    no_fault = True


class NoChecker(Unavailable):
    """This collector is an official release, which has no `check` command."""

    code = "no_checker"


class NotInstalled(Unavailable):
    """This collector version is not on this machine; `installed` are those that are, oldest first."""

    code = "collector_not_installed"

    def __init__(self, version: str, installed: tuple[str, ...] = ()) -> None:
        super().__init__(f"Collector version {version} is not installed; installed: {', '.join(installed) or 'none'}")
        self.version = version
        self.installed = installed


KINDS: Final[Mapping[str, type[Unavailable]]] = {
    "not_installed": NotInstalled,
    "no_checker": NoChecker,
    "busy": CheckerBusy,
    "not_started": CheckerNotStarted,
    "not_fetched": CollectorNotFetched,
    "unusable": Unusable,
    "failed": CheckerFailed,
}
"""The words for these failures in an answer of the function that has the collectors; the first that fits."""


class BeingBuilt(NotReady):
    """This collector version is being built on this machine."""

    code = "collector_being_built"


class BuildFailed(NotReady):
    """This collector version could not be built on this machine."""

    code = "collector_build_failed"
