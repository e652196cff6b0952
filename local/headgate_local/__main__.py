"""`python -m headgate_local`, which is what `make dev` runs."""

import gc
import sys

# Older versions must be able to parse this file, to print the message.
if sys.version_info < (3, 11):  # noqa: UP036  older Pythons run this to say so
    sys.exit("headgate: Python 3.11 or newer is needed; this is Python %d.%d" % sys.version_info[:2])  # noqa: UP031  Python 2 parses this


def main():  # type: () -> int
    """Returns the exit status: 0 after a signal, 1 when it could not start."""
    # What is imported and made before the first request stays until the end: collecting garbage, which `run` turns on
    # again, would take a fifth of the start.
    gc.disable()
    from headgate_local.errors import CannotStart

    try:
        from headgate_local.service import run

        run()
    except CannotStart as error:
        print(f"headgate: {error}", file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("headgate", "headgate_local"):
            raise
        print(f"headgate: the Python package {error.name} is missing: run `make venv`", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


sys.exit(main())
