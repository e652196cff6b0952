"""The endpoints of a version's named tests."""

from typing import Final

from fastapi import Request, Response

from headgate.configurations import service as configurations
from headgate.http.auditing import add_details
from headgate.http.credentials import Reader, Writer
from headgate.http.parameters import ConfigurationId, IfMatch, VersionNumber, states
from headgate.http.routing import recorded
from headgate.http.routing import router as group
from headgate.runs.suites import service as suites
from headgate_engine.wire.tests import NamedTestIn
from testing.tests_wire import ListedTestOut, NamedTestOut, VersionTestsOut

router = group("/configurations", "Tests of a version")

_ONE: Final = "/{configuration_id}/versions/{n}/tests/{test_name}"


@router.get("/{configuration_id}/versions/{n}/tests")
def list_version_tests(configuration_id: ConfigurationId, n: VersionNumber, caller: Reader) -> VersionTestsOut:
    """The tests of a version by name, without what they say, and the evidence that suites of them left."""
    return VersionTestsOut.of(suites.overview(caller, configuration_id, n))


@router.get(_ONE)
def get_version_test(
    configuration_id: ConfigurationId, n: VersionNumber, test_name: str, caller: Reader, response: Response
) -> NamedTestOut:
    """One test of a version."""
    listed, test = suites.get(caller, configuration_id, n, test_name)
    response.headers["ETag"] = listed.etag
    return NamedTestOut.of_test(listed, test)


@router.put(_ONE, **recorded("test.saved", 409, 412))
def put_version_test(
    configuration_id: ConfigurationId,
    n: VersionNumber,
    test_name: str,
    body: NamedTestIn,
    caller: Writer,
    request: Request,
    response: Response,
    if_match: IfMatch = None,
) -> ListedTestOut:
    """Add a test to a draft, or replace it whole. It is stored without being run: a suite compiles its rules.

    The next version begins with the tests of the one before. Names are unique, also without regard to case.
    """
    tags = states(if_match)
    add_details(request, {"name": configurations.summary(caller, configuration_id).name, "test": test_name})
    saved = suites.put(caller, configuration_id, n, test_name, body.as_test(), tags)
    response.headers["ETag"] = saved.etag
    return ListedTestOut.of(saved)


@router.delete(_ONE, status_code=204, **recorded("test.deleted", 409, 412))
def delete_version_test(
    configuration_id: ConfigurationId,
    n: VersionNumber,
    test_name: str,
    caller: Writer,
    request: Request,
    if_match: IfMatch = None,
) -> None:
    """Delete a test of a draft."""
    add_details(request, {"name": configurations.summary(caller, configuration_id).name, "test": test_name})
    suites.delete(caller, configuration_id, n, test_name, states(if_match))
