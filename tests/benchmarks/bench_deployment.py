"""What is deployed: sizes of the packages, and cold starts from the built artefacts by the real runtime client.

Baseline of the starts: the same runtime client with a handler that does nothing.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headgate.flows import publish
from headgate.foundation.settings import settings
from headgate.identity import service as identity
from headgate.storage import aws
from headgate_local import aws_server, gallery, template
from tests.support import lambda_invocations
from tests.support.lambda_runtime import LambdaFunction, started

ROOT = template.PATH.parent
EVENTS = ROOT / "local" / "sam"
RUNTIME = f"python{sys.version_info.major}.{sys.version_info.minor}"
ARCHITECTURE = "arm64" if platform.machine() in ("arm64", "aarch64") else "x86_64"
# AWS's: all layers of a function and the function itself.
MOST_UNPACKED = 250 * 1024 * 1024
TIMES = 3


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder, "built")
        build(built)
        sizes(built)
        with aws_server.running():
            environment, token = prepared()
            with beside_the_checker(built, Path(folder), environment) as variables:
                starts(built, Path(folder), variables, token)


def build(folder: Path) -> None:
    variables = {**os.environ, "SAM_CLI_TELEMETRY": "0", "RUNTIME": RUNTIME, "ARCHITECTURE": ARCHITECTURE}
    overrides = f"PythonRuntime={RUNTIME} Architecture={ARCHITECTURE}"
    sam = [ROOT / ".venv-sam" / "bin" / "sam", "build", "--build-in-source", "--build-dir", folder]
    subprocess.run([*sam, "--parameter-overrides", overrides], cwd=ROOT, env=variables, check=True, capture_output=True)


def sizes(built: Path) -> None:
    print(f"{'package':<24} {'unpacked MB':>12} {'zip MB':>8} {'of 250 MB':>10}")
    together = 0
    for name in ("PythonLayer", "CollectorLayer", "IdentityFunction"):
        unpacked, packed = size(built / name)
        together += unpacked
        print(f"{name:<24} {unpacked / 1e6:>12.1f} {packed / 1e6:>8.1f} {unpacked / MOST_UNPACKED:>10.0%}")
    print(f"{'together, as the checker has':<24} {together / 1e6:>12.1f} {'':>8} {together / MOST_UNPACKED:>10.0%}")
    largest = sorted(
        (size(entry)[0] if entry.is_dir() else entry.stat().st_size, entry.name)
        for entry in (built / "PythonLayer" / "python").iterdir()
    )[-6:]
    print("largest in PythonLayer: " + ", ".join(f"{name} {number / 1e6:.1f}" for number, name in reversed(largest)))


def size(folder: Path) -> tuple[int, int]:
    """Bytes unpacked and in a zip file as SAM makes it."""
    with tempfile.TemporaryFile() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            files = [path for path in folder.rglob("*") if path.is_file()]
            for path in files:
                archive.write(path, path.relative_to(folder))
        return sum(path.stat().st_size for path in files), file.tell()


def prepared() -> tuple[dict[str, str], str]:
    """The environment of the functions, and a token that their tables know."""
    described = template.read()
    environment = described.environment()
    os.environ.update(environment)
    settings.cache_clear()
    aws.forget_clients()
    for table in described.tables():
        aws.dynamodb().create_table(**table.definition)
    for bucket in described.buckets():
        aws.s3().create_bucket(Bucket=bucket.name)
    publish.upload(publish.build(gallery.FLOWS), settings().bucket)
    organization = identity.create_organization("Bench")
    account = identity.create_service_account(organization.id, "bench")
    _, token = identity.create_token(organization.id, account.id, name="bench", access="read_write")
    environment |= {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    return environment, token


@contextmanager
def beside_the_checker(built: Path, folder: Path, environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """The environment of functions that ask the checker's, which runs meanwhile."""
    own = folder / "checker"
    (own / "tmp").mkdir(parents=True)
    variables = {**environment, "TMPDIR": str(own / "tmp"), "HEADGATE_COLLECTORS_DIR": str(collectors(built))}
    layers = [built / "PythonLayer"]
    code = built / "CheckerFunction"
    with (
        started("checker.app.handler", code=code, layers=layers, environment=variables, folder=own) as checker,
        lambda_invocations.running(lambda_invocations.answering(checker.invoke)) as served,
    ):
        yield {**environment, "AWS_ENDPOINT_URL_LAMBDA": served.url, "HEADGATE_CHECKER_FUNCTION": "headgate-checker"}


def collectors(built: Path) -> Path:
    return built / "CollectorLayer" / "collectors"


def starts(built: Path, folder: Path, environment: dict[str, str], token: str) -> None:
    nothing = folder / "nothing"
    nothing.mkdir()
    (nothing / "bare.py").write_text("def handler(event, context):\n    return {'statusCode': 200}\n")
    columns = ("start ms", "first ms", "next ms", "peak MB", "/tmp MB", "start")
    print(f"\n{'function':<28}" + "".join(f" {column:>9}" for column in columns))
    event = request("IdentityFunction", token)
    bare = row("runtime client alone (base)", "bare.handler", nothing, [], environment, event, folder, None)
    layers = [built / "PythonLayer"]
    for function in template.read().functions():
        if function.logical_id not in ("FirstOrganizationFunction", "CheckerAnswersFunction"):
            event = request(function.logical_id, token)
            code = built / function.logical_id
            variables = environment
            if function.logical_id == "CheckerFunction":
                variables = {**environment, "HEADGATE_COLLECTORS_DIR": str(collectors(built))}
                del variables["HEADGATE_CHECKER_FUNCTION"]
            row(function.logical_id, function.handler, code, layers, variables, event, folder, bare)


def row(
    name: str,
    handler: str,
    code: Path,
    layers: list[Path],
    environment: dict[str, str],
    event: dict[str, object],
    folder: Path,
    baseline: float | None,
) -> float:
    """The best of a few starts, each in an empty /tmp; returns it in seconds."""
    best: tuple[float, float, float, int, int] | None = None
    for number in range(TIMES):
        here = Path(tempfile.mkdtemp(dir=folder, prefix=f"{name.split()[0]}-{number}-"))
        scratch = here / "tmp"
        scratch.mkdir()
        variables = {**environment, "TMPDIR": str(scratch)}
        with started(handler, code=code, layers=layers, environment=variables, folder=here) as function:
            first, following = timed(function, event), timed(function, event)
            used = sum(path.stat().st_size for path in scratch.rglob("*") if path.is_file())
            found = (function.init_seconds, first, following, function.resident_bytes(), used)
        best = found if best is None or found[0] + found[1] < best[0] + best[1] else best
    assert best is not None
    start, first, following, memory, used = best
    ratio = f"{start / baseline:.2f}x" if baseline else ""
    print(
        f"{name:<28} {start * 1000:>9.0f} {first * 1000:>9.0f} {following * 1000:>9.1f} {memory / 1e6:>9.0f} "
        f"{used / 1e6:>9.0f} {ratio:>9}",
        flush=True,
    )
    return start


def request(logical_id: str, token: str) -> dict[str, object]:
    text = (EVENTS / f"{logical_id}.json").read_text().replace("sv_put_your_token_here", token)
    event: dict[str, object] = json.loads(text)
    return event


def timed(function: LambdaFunction, event: dict[str, object]) -> float:
    began = time.perf_counter()
    function.invoke(event)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
