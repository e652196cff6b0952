"""What a service has spent, read from /proc."""

import os
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Spent:
    """Processor seconds of the service and of this process until a moment, and the service's memory then."""

    service: float
    here: float
    megabytes: int

    @classmethod
    def by(cls, pid: int) -> "Spent":
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        megabytes = pages * os.sysconf("SC_PAGE_SIZE") >> 20
        return cls(ticks / os.sysconf("SC_CLK_TCK"), time.process_time(), megabytes)
