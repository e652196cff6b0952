"""The one structured logger. Events with fields; never a configuration, a sample, a credential or an `env` value."""

from typing import Final

from aws_lambda_powertools import Logger

logger: Final = Logger(service="headgate", use_rfc3339=True, utc=True)
