"""Objects of the bucket that need not be there: S3 may say 403 of a key that is missing."""

from collections.abc import Callable, Iterator

import pytest
from botocore.exceptions import ClientError

from flows.app import router as flows_router
from headgate.foundation.settings import settings
from headgate.installs import releases
from headgate.runs import files
from headgate.storage import aws, objects
from headgate_local import template
from tests.support.faults.aws_faults import Aws, Fault, watched
from tests.support.members import API, JoinWith

KEY = "runs/run_1/output"


@pytest.fixture
def faulty(aws_here: template.Template) -> Iterator[Aws]:
    with watched() as found:
        aws.s3().put_object(Bucket=settings().bucket, Key=KEY, Body=b"something")
        yield found
    # Watched clients count for nobody any more.
    aws.forget_clients()


@pytest.mark.parametrize("ask", [objects.read_if_there, objects.size_if_there])
def test_what_is_not_there_is_none_whether_s3_says_404_or_403(faulty: Aws, ask: Callable[[str], object]) -> None:
    faulty.begin()
    missing = ask("runs/run_1/none")
    faulty.begin(Fault("denied", 0))
    denied = ask("runs/run_1/none")

    assert (missing, denied, faulty.hit) == (None, None, True)


@pytest.mark.parametrize("ask", [objects.read_if_there, objects.size_if_there])
@pytest.mark.parametrize("kind", ["error", "throttled", "refused", "cut"])
def test_any_other_fault_is_not_a_missing_object(faulty: Aws, ask: Callable[[str], object], kind: str) -> None:
    faulty.begin(Fault(kind, 0))

    with pytest.raises(Exception, match=r"."):
        ask(KEY)


def test_what_has_to_be_there_and_is_denied_is_a_fault(faulty: Aws) -> None:
    for ask in (lambda: objects.read(KEY), lambda: files.text("run_1", "output")):
        faulty.begin(Fault("denied", 0))
        with pytest.raises(ClientError, match="AccessDenied"):
            ask()


def test_a_denied_write_is_a_fault(faulty: Aws) -> None:
    faulty.begin(Fault("denied", 0))

    with pytest.raises(ClientError, match="AccessDenied"):
        files.put("run_1", "notes", "")


def test_a_run_file_that_nothing_depends_on_is_as_none(faulty: Aws) -> None:
    faulty.begin(Fault("denied", 0))
    assert files.text_if_there("run_1", "stderr") is None
    faulty.begin(Fault("denied", 0))
    assert files.size("run_1", "output") == 0


def test_a_release_that_is_denied_is_not_published(faulty: Aws) -> None:
    faulty.begin(Fault("denied", 0))

    with pytest.raises(releases.ReleaseNotPublished):
        releases.current()


@pytest.mark.parametrize(
    ("path", "expected"), [("/flows", (503, "gallery_not_published")), ("/flows/none", (404, "flow_not_found"))]
)
def test_a_gallery_that_is_denied_is_not_published(
    faulty: Aws, join: JoinWith, path: str, expected: tuple[int, str]
) -> None:
    ann = join([flows_router])
    faulty.begin()
    undisturbed = ann.http.get(f"{API}{path}")
    at = [str(call) for call in faulty.calls].index("s3.GetObject")
    faulty.begin(Fault("denied", at))
    denied = ann.http.get(f"{API}{path}")

    assert [(one.status_code, one.json()["code"]) for one in (undisturbed, denied)] == [expected, expected]
