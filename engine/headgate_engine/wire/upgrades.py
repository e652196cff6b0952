"""The bodies of the upgrade checks, of a text, of a stored version and of a deployment group."""

from collections.abc import Sequence

from pydantic import Field

from headgate_engine.validation.model import CheckRequest
from headgate_engine.wire.inputs import CollectorVersion, FeatureGates, Files, Input, Variables, Yaml


class CheckUpgrade(Input):
    """The collector version to move to, the one to compare with, and how hosts run with the text.

    These are values for its `${env:NAME}`, texts for its `${file:PATH}`, and feature gates.
    """

    to: CollectorVersion
    source: CollectorVersion | None = Field(
        default=None, alias="from", description="The version's own collector version, if it is left out"
    )
    env: Variables = Field(default_factory=dict)
    files: Files = Field(default_factory=dict)
    feature_gates: FeatureGates = Field(default_factory=list)

    def text_of(
        self, yaml: str | None, collector_version: str, loc: tuple[str, ...], feature_gates: Sequence[str] = ()
    ) -> CheckRequest:
        """A stored version's text, with its gates unless the request has some; `loc` names it in the request."""
        gates = tuple(self.feature_gates or feature_gates)
        return CheckRequest(yaml or "", collector_version, self.env, gates, self.files, loc)


class CheckTextUpgrade(CheckUpgrade):
    """A whole configuration, the collector versions to move it from and to, and how hosts run with it."""

    yaml: Yaml
    source: CollectorVersion | None = Field(
        default=None, alias="from", description="The server's default collector, if it is left out"
    )

    def text(self) -> CheckRequest:
        return CheckRequest(self.yaml, None, self.env, tuple(self.feature_gates), self.files)
