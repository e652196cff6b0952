"""The endpoints of the rules that are saved with a version."""

from fastapi import Request

from headgate.configurations import service as configurations
from headgate.http.auditing import add_details
from headgate.http.credentials import Reader, SessionMember, Writer
from headgate.http.parameters import ConfigurationId, VersionNumber
from headgate.http.routing import application_router, recorded
from headgate.http.routing import router as group
from headgate.identity import checks
from headgate.runs.rules import service as rules
from testing.wire import RuleSetOut, RuleSets, SaveRules, SaveRulesByHand

router = group("/configurations", "Validation rules")
# Routes of the application, in this function because the collector checks the rules.
by_hand = application_router()


@router.get("/{configuration_id}/versions/{n}/validation-pipelines")
def list_validation_pipelines(configuration_id: ConfigurationId, n: VersionNumber, caller: Reader) -> RuleSets:
    """The saved rules of a version, by pipeline."""
    return RuleSets(items=[RuleSetOut.of(rule_set) for rule_set in rules.saved(caller, configuration_id, n)])


@router.put("/{configuration_id}/versions/{n}/validation-pipelines/{pipeline:path}", **recorded("rules.saved"))
def put_validation_pipeline(
    configuration_id: ConfigurationId,
    n: VersionNumber,
    pipeline: str,
    body: SaveRules,
    caller: Writer,
    request: Request,
) -> RuleSetOut:
    """Save a pipeline's rules: those saved through the API are replaced, those added by hand are kept."""
    add_details(request, {"name": configurations.summary(caller, configuration_id).name, "pipeline": pipeline})
    with checks.under_way(caller):
        saved = rules.save(caller, configuration_id, n, pipeline, body.signal_type, body.as_rules(), body.name)
    return RuleSetOut.of(saved)


@by_hand.put(
    "/configurations/{configuration_id}/versions/{n}/validation-pipelines/{pipeline:path}",
    **recorded("rules_by_hand.saved"),
)
def put_rules_by_hand(
    configuration_id: ConfigurationId, n: VersionNumber, pipeline: str, body: SaveRulesByHand, caller: SessionMember
) -> RuleSetOut:
    """Save a pipeline's rules by hand: those added by hand are replaced, those saved through the API are kept."""
    with checks.under_way(caller):
        saved = rules.save(
            caller, configuration_id, n, pipeline, body.signal_type, body.as_rules(), body.name, api_owned=False
        )
    return RuleSetOut.of(saved)
