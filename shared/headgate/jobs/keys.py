"""Every key of jobs, built here and nowhere else. Jobs share the table and the bucket's folder of test runs."""

from headgate.storage.table import Key


def job(job_id: str) -> Key:
    return {"run_id": job_id}


def file(job_id: str, name: str) -> str:
    """The key of an object."""
    return f"runs/{job_id}/{name}"
