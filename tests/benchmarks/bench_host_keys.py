"""What a host's signature costs the fleet service: the import with the first one, and each message.

The limit is 0.3 ms for a heartbeat. The baseline is SHA-256 of the same message, which any signature reads as well. A
sealed box is what an install with stored secrets costs once.

python -m tests.benchmarks.bench_host_keys [--rounds 5000]
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from hashlib import sha256

from nacl.public import SealedBox
from nacl.signing import SigningKey

from headgate.opamp.signatures import verified
from tests.support.signing_host import signed

HEARTBEAT, FULL_REPORT, LARGEST = 300, 8 << 10, 1 << 20
IMPORT = "import time; started = time.perf_counter(); import {}; print(time.perf_counter() - started)"


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=5_000)
    rounds = arguments.parse_args().rounds
    for modules in ("nacl.signing", "json"):
        print(f"import {modules}: {min(imported(modules) for _ in range(7)) * 1_000:.1f} ms, the least of 7")
    print(f"{'':<28} {'verified':>10} {'SHA-256':>10}")
    for name, size in (("heartbeat", HEARTBEAT), ("full report", FULL_REPORT), ("1 MB", LARGEST)):
        body = bytes(size)
        signature = signed(SigningKey.generate(), "ft_x", "dep_x", "1.1", body)
        token_hash = sha256(b"ft_x").hexdigest()
        turns = rounds if size < LARGEST else rounds // 100
        cost = timed(partial(verified, signature, token_hash, "dep_x", body), turns)
        baseline = timed(partial(sha256, body), turns)
        print(f"{name + f' of {size:,} bytes':<28} {cost * 1_000:>7.3f} ms {baseline * 1_000:>7.3f} ms")
    box = SealedBox(SigningKey.generate().verify_key.to_curve25519_public_key())
    print(f"{'sealed box of 4 KB':<28} {timed(lambda: box.encrypt(bytes(4_096)), rounds // 10) * 1_000:>7.3f} ms")


def imported(module: str) -> float:
    """The seconds of an import in a process of its own."""
    return float(subprocess.run([sys.executable, "-c", IMPORT.format(module)], capture_output=True, check=True).stdout)


def timed(act: Callable[[], object], rounds: int) -> float:
    """The seconds of one, the least of five series."""
    series = []
    for _ in range(5):
        started = time.perf_counter()
        for _ in range(rounds // 5):
            act()
        series.append((time.perf_counter() - started) / (rounds // 5))
    return min(series)


if __name__ == "__main__":
    main()
