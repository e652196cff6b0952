"""The variables that belong to an offer, sealed for the key of the host that it goes to: only this host reads them.

`instances.desired.offers` offers such a version only to a host that signs, with the token of its own group.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

from headgate.deployments import variables as stored
from headgate.instances.reported.host_key import sealed_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headgate.deployments.model import Deployment
    from headgate.instances.desired.model import Desired
    from headgate.instances.model import Instance


def variables(instance: Instance, sent: Desired, group: Deployment) -> Mapping[str, object] | None:
    """Seal the variables of an offer for the host that it goes to; None for a host that takes none.

    A read and a call to KMS for each secret, the first time in a process. What was sealed names its configuration, so
    that no earlier answer passes for this one. Without `sealed` the host uses the revision if it has it, and refuses
    the offer otherwise: an import brought the secrets, or the revision is not stored any more.
    """
    key = instance.identity.key
    if "variables" not in instance.reported.host.can or key is None:
        return None
    if sent.variables is None:
        return {"installed": True}
    named = {"digest": sent.variables.digest}
    content = stored.for_hosts(group, sent.variables)
    if content is None or instance.identity.scope != group.id:
        return named
    message = json.dumps({**named, "config": sent.config_hash, **content}, separators=(",", ":"))
    return {**named, "sealed": base64.b64encode(sealed_for(key.public, message.encode())).decode()}
