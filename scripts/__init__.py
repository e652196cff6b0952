"""What operators run by hand and by `make`."""

import os

# The AWS command line, SAM and the other SDKs go by AWS_REGION; boto3 reads AWS_DEFAULT_REGION only.
if os.environ.get("AWS_REGION"):
    os.environ["AWS_DEFAULT_REGION"] = os.environ["AWS_REGION"]
