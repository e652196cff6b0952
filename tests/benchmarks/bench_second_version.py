"""The first verdict of a version from the bucket, as in a new environment of the checker's function.

python -m tests.benchmarks.bench_second_version [--times 5] [--version X.Y.Z]

The baseline is the default's cold start. moto stands in for S3, in this process: what it and the network take is
measured apart, and taken off. The version is the newest that is installed beside the default one, else the default one.
"""

import argparse
import http.client
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import boto3
import zstandard

from headgate.checker import Checker, publish, published
from headgate.checker.fetched import Fetched, Source
from headgate.foundation.settings import settings
from headgate.storage import aws
from headgate_engine.checker.descriptions import Descriptions, short
from headgate_engine.checker.installed import BINARY, Installed
from headgate_engine.checker.limits import Limits
from headgate_local import aws_server
from tests.support.askers import ASKER

BUCKET = "bench"
CONFIGURATION = (Path(__file__).parent / "hundred_lines.yaml").read_text()
# As in the checker's function.
LIMITS = Limits(processes=1)
LEVEL = 9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--version", default="")
    options = parser.parse_args()
    default = settings().collector_version
    installed = Installed(Path(settings().collectors_dir))
    others = [version for version in installed.versions() if version != default]
    version = options.version or (others[-1] if others else default)
    with tempfile.TemporaryDirectory() as name, aws_server.running():
        folder = Path(name)
        tempfile.tempdir = name
        layer = packed(installed.binary(default), folder / "layer" / default)
        second = packed(installed.binary(version), folder / "second" / version)
        put(version, installed.binary(version), second)
        source = Source.of(published.source(version, 3600))
        compressed, whole = source.size / 1e6, source.binary_size / 1e6
        print(f"collector {version}: {compressed:.0f} MB, unpacked {whole:.0f} MB; {options.times} times each")
        print(f"{'':<56} {'median s':>9} {'best s':>9} {'cpu s':>9} {'ratio':>7}")

        def of_the_layer() -> None:
            shutil.rmtree(folder / "unpacked", ignore_errors=True)
            with checker(Installed(layer.parent.parent, folder / "unpacked"), default) as asked:
                verdict(asked, default)

        base = row("default: unpack from the layer, start, first verdict", options.times, of_the_layer)
        network = row("second: its bytes from moto alone", options.times, lambda: download(source), base)

        def of_the_bucket() -> None:
            fetched = Fetched()
            with checker(Installed(folder / "nothing", fetched=fetched), default) as asked, fetched.using(source):
                verdict(asked, version)

        seconds = row("second: fetch, verify, unpack, start, first verdict", options.times, of_the_bucket, base)
        print(
            f"{'second: the same without the network':<56} {seconds - network:>9.2f} {'':>9} {'':>9} "
            f"{(seconds - network) / base:>6.2f}x"
        )
        fetched = Fetched()
        with checker(Installed(folder / "nothing", fetched=fetched), default) as asked, fetched.using(source):
            verdict(asked, version)
            row("second: another question", options.times, lambda: verdict(asked, version), base)


def packed(binary: Path, folder: Path) -> Path:
    """The binary compressed as in the layer, taken from beside it where a build has left it."""
    folder.mkdir(parents=True)
    target = folder / f"{BINARY}.zst"
    there = binary.resolve().with_name(f"{BINARY}.zst")
    if there.exists():
        target.symlink_to(there)
    else:
        with binary.open("rb") as read, target.open("wb") as written:
            zstandard.ZstdCompressor(level=LEVEL, threads=-1).copy_stream(read, written)
    return target


def put(version: str, binary: Path, compressed: Path) -> None:
    os.environ.update(HEADGATE_BUCKET=BUCKET, HEADGATE_COLLECTOR_VERSION="0.0.0", HEADGATE_COLLECTOR_VERSIONS=version)
    settings.cache_clear()
    aws.forget_clients()
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket=BUCKET)
    description = short(Descriptions(LIMITS).of_binary(binary))
    publish.upload(s3, BUCKET, published.architecture(), binary, compressed, description)


@contextmanager
def checker(installed: Installed, default: str) -> Iterator[Checker]:
    made = Checker(installed, default, LIMITS)
    try:
        yield made
    finally:
        made.close()


def verdict(asked: Checker, version: str) -> None:
    asked.call("validate", {"yaml": CONFIGURATION, "env": {}}, asker=ASKER, version=version)


def download(source: Source) -> None:
    parts = urlsplit(source.url)
    connection = http.client.HTTPConnection(parts.netloc)
    connection.request("GET", f"{parts.path}?{parts.query}")
    response = connection.getresponse()
    while response.read(1 << 20):
        pass
    connection.close()


def row(name: str, times: int, work: Callable[[], None], base: float | None = None) -> float:
    seconds, of_processors = [], []
    for _ in range(times):
        started, used = time.perf_counter(), processor_seconds()
        work()
        seconds.append(time.perf_counter() - started)
        of_processors.append(processor_seconds() - used)
    found = median(seconds)
    ratio = f"{found / base:>6.2f}x" if base else " (base)"
    print(f"{name:<56} {found:>9.2f} {min(seconds):>9.2f} {min(of_processors):>9.2f} {ratio:>7}", flush=True)
    return found


def processor_seconds() -> float:
    """What this process, with moto, and the collectors that have ended used: other load on the machine is not in it."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    main()
