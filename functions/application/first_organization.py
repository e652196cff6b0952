"""The first organization of a stack and its Admin: a custom resource that CloudFormation creates with the stack."""

from collections.abc import Mapping

from headgate.foundation import custom_resource
from headgate.identity import people


def handler(event: Mapping[str, object], _context: object) -> None:
    """Create them with the stack, and tell CloudFormation. An update or a deletion changes nothing."""

    def begin(properties: Mapping[str, object]) -> Mapping[str, str]:
        if event["RequestType"] == "Create":
            people.begin_deployment(
                str(properties["Organization"]), str(properties["AdminEmail"]), str(properties["Url"])
            )
        return {}

    custom_resource.answer(event, "first-organization", begin)
