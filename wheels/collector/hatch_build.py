"""Tags the wheel: its programs are for one platform, and run with any Python."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PlatformTag(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, object]) -> None:
        del version  # "standard" or "editable", which make the same wheel here.
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['HEADGATE_PLATFORM']}"
