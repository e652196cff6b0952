"""Every key of jobs, built here and nowhere else. Jobs share the table and the bucket's folders of test runs."""

from headgate.storage.table import Key


def job(job_id: str) -> Key:
    return {"run_id": job_id}


def file(job_id: str, name: str) -> str:
    """The key of an object."""
    return f"runs/{job_id}/{name}"


def secret(job_id: str) -> str:
    """What the keys of the objects with values of variables begin with."""
    return f"variables/{job_id}/"
