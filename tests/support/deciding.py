"""Messages of one instance, and what is decided of them, without tables: `headgate.opamp.decision` itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from headgate.deployments.model import Deployment
from headgate.instances.desired.model import Desired
from headgate.instances.model import Contact, HostIdentity, Instance
from headgate.instances.reported.model import AgentReport
from headgate.opamp.decision import AgentMessage, ConfigText, Decision, Texts, decide

UID: Final = b"x" * 16
SENDER: Final = HostIdentity("token", "flt_1")


def new_instance(instance_id: str, group: Deployment, at: datetime, **parts: Any) -> Instance:
    """One of the group that was heard of, and said nothing yet."""
    return Instance(instance_id, group.fleet_id, group.id, Contact.first(0, at), SENDER, **parts)


def no_text(_: Desired) -> ConfigText:
    """What is known of the text of any config where no text matters."""
    return ConfigText("", runs_nothing=False)


def decided(
    instance: Instance,
    group: Deployment,
    at: datetime,
    texts: Texts = no_text,
    sender: HostIdentity = SENDER,
    *,
    takes_place: bool = False,
    **report: Any,
) -> Decision:
    """Decide about the next message of a supervisor, which says all that `report` holds."""
    said = AgentReport(UID, instance.contact.sequence_num + 1, accepts_config=True, takes_interval=True, full=True)
    silent_at = instance.silent_from() if instance else None
    return decide(instance, AgentMessage(replace(said, **report), sender, takes_place), group, at, texts, silent_at)
