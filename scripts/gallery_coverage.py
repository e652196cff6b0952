"""Coverage of the gallery's flows by their rules: `python -m scripts.gallery_coverage --url URL [SLUG…]`.

A running service measures each flow, such as that of `make dev`; HEADGATE_TOKEN is a token of it with write access. It
prints a line for each flow as it ends, what no rule notices, and a table of the scores, the lowest first.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import httpx

from headgate.flows import source

FLOWS: Final = Path(__file__).parents[1] / "flows"
_SECONDS: Final = 2.0
# Below the limit of requests a minute, with those that ask how far a job is.
_PACE: Final = 1.1

Json = Mapping[str, Any]


def slugs() -> list[str]:
    return sorted(folder.name for folder in FLOWS.iterdir() if folder.is_dir())


def request(slug: str, collector_version: str | None) -> dict[str, object]:
    """The flow's own test."""
    flow = source.read(FLOWS / slug)
    trial = flow.file.test
    test = {
        "name": slug,
        "target_pipeline": trial.target_pipeline,
        "signal_type": trial.signal_type,
        "sample": flow.sample,
        "duration_seconds": trial.duration_seconds,
        "rules": [rule.model_dump(exclude_none=True) for rule in flow.rules],
    }
    chosen = {"collector_version": collector_version} if collector_version else {}
    return {"yaml": flow.yaml, "tests": [test], **chosen}


def measure(client: httpx.Client, slug: str, collector_version: str | None) -> Json:
    """The result of a flow's job. Raises RuntimeError if there is none."""
    job = _answer(client.post("/testing/coverage", json=request(slug, collector_version)))
    while job["status"] not in ("Done", "Error"):
        time.sleep(_SECONDS)
        job = _answer(client.get(f"/testing/coverage/{job['id']}"))
    if job["status"] == "Error":
        raise RuntimeError(f"{slug}: {job['reason']}")
    result: Json = job["result"]
    return result


def _answer(response: httpx.Response) -> Json:
    if not response.is_success:
        raise RuntimeError(f"{response.request.url}: {response.status_code} {response.text}")
    content: Json = response.json()
    return content


def lines(slug: str, result: Json) -> Iterator[str]:
    """Report a flow's changes that no rule notices, each with its line and a rule that would."""
    yield f"{slug}: {score(result)}, {result['survived']} not noticed, {result['unreached']} not reached"
    for test in result["tests"]:
        if not test["usable"]:
            yield f"  not used: {test['reason']}"
    for mutant in result["mutants"]:
        if mutant["outcome"] == "survived":
            yield f"  {mutant['line']}:{mutant['column']} {mutant['description']}"
            yield f"    would notice: {mutant['would_notice']}"


def score(result: Json) -> str:
    return "no score" if result["score"] is None else f"{result['score']:.1f} %"


def table(results: Mapping[str, Json]) -> Iterator[str]:
    """A row for each flow, the lowest score first."""
    yield f"{'flow':26} {'score':>8} {'noticed':>8} {'not noticed':>12} {'not reached':>12} {'left out':>9}"
    for slug, result in sorted(results.items(), key=lambda item: (item[1]["score"] is None, item[1]["score"] or 0.0)):
        counts = "".join(
            f"{result[name]:>{width}}"
            for name, width in (("killed", 9), ("survived", 13), ("unreached", 13), ("left_out", 10))
        )
        yield f"{slug:26} {score(result):>8}{counts}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("slugs", nargs="*", metavar="SLUG")
    parser.add_argument("--url", required=True)
    parser.add_argument("--collector-version")
    args = parser.parse_args(arguments)
    token = os.environ.get("HEADGATE_TOKEN")
    if not token:
        parser.error("HEADGATE_TOKEN is not set: it is a token of the service, with write access")
    results: dict[str, Json] = {}
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{args.url}/api/v1/public", headers=headers, timeout=60) as client:
        for slug in args.slugs or slugs():
            results[slug] = measure(client, slug, args.collector_version)
            print("\n".join(lines(slug, results[slug])), flush=True)
            time.sleep(_PACE)
    print("\n" + "\n".join(table(results)))
    if any(not test["usable"] for result in results.values() for test in result["tests"]):
        sys.exit(1)


if __name__ == "__main__":
    main()
