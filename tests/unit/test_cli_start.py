"""What a command imports: each start of the command line pays for it."""

import os
import subprocess
import sys

PROGRAM = """\
import sys
from headgate_cli import main
sys.argv = ["headgate", "whoami"]
try:
    main.main()
except SystemExit:
    print(*sys.modules)
"""


def test_a_command_that_calls_the_server_leaves_out_the_command_line_of_httpx() -> None:
    environment = {**os.environ, "HEADGATE_URL": "http://127.0.0.1:1", "SERVICE_API_TOKEN": "sv_x"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)

    modules = done.stdout.split()
    assert "httpx" in modules
    assert "rich" not in modules
