"""Every key of the runs table and the bucket's folder `runs`, built here and nowhere else. docs/data.md lists them."""

from typing import Final

from headgate.storage.table import Key, TableIndex

# Runs and jobs of an organization. Both attributes are older than the index, which therefore has earlier runs too.
OF_ORGANIZATION: Final = TableIndex("of_organization", "organization_id", "run_id")
RUNS: Final = "run_"


def run(run_id: str) -> Key:
    """The key of a run or a job."""
    return {"run_id": run_id}


def details(run_id: str) -> Key:
    return {"run_id": f"details#{run_id}"}


def queue(organization_id: str) -> Key:
    return {"run_id": f"queue#{organization_id}"}


def secret(run_id: str) -> str:
    """The prefix of objects with values of variables."""
    return f"variables/{run_id}/"


def file(run_id: str, name: str) -> str:
    """The key of an object."""
    return f"runs/{run_id}/{name}"
