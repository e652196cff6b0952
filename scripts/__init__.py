"""Scripts that operators run by hand and by `make`."""

import os
import sys
from pathlib import Path

# An operator runs these with `python -m`, without the paths that the Makefile sets.
sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("shared", "engine", "local")]

# The AWS command line, SAM and the other SDKs read AWS_REGION; boto3 reads only AWS_DEFAULT_REGION.
if os.environ.get("AWS_REGION"):
    os.environ["AWS_DEFAULT_REGION"] = os.environ["AWS_REGION"]
