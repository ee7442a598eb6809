"""List prices in us-east-1, in USD, as they were known in November 2026. Check them before you rely on a sum."""

from __future__ import annotations

from dataclasses import dataclass

KNOWN = "2026-11"
REGION = "us-east-1"
HOURS = 730
"""Of a month, as AWS's own calculator counts."""


@dataclass(frozen=True, slots=True)
class Price:
    """``usd`` for one ``unit``. ``page``: the title of the public page that has it."""

    usd: float
    unit: str
    page: str


M = 1e-6
PRICES = {
    "write unit": Price(0.625 * M, "write request unit", "Amazon DynamoDB pricing for on-demand capacity"),
    "read unit": Price(0.125 * M, "read request unit", "Amazon DynamoDB pricing for on-demand capacity"),
    "row storage": Price(0.25, "GB and month", "Amazon DynamoDB pricing for on-demand capacity"),
    "row recovery": Price(0.20, "GB and month", "Amazon DynamoDB pricing for on-demand capacity"),
    "api call": Price(3.50 * M, "REST API call", "Amazon API Gateway pricing"),
    "invocation": Price(0.20 * M, "request", "AWS Lambda pricing"),
    "compute": Price(0.0000133334, "GB-second, Arm", "AWS Lambda pricing"),
    "standard request": Price(0.40 * M, "request, standard queue", "Amazon SQS pricing"),
    "fair request": Price(0.10 * M, "request, on top for fair queues", "Amazon SQS pricing"),
    "fifo request": Price(0.50 * M, "request, FIFO queue", "Amazon SQS pricing"),
    "object write": Price(5.00 * M, "PUT or LIST", "Amazon S3 pricing"),
    "object read": Price(0.40 * M, "GET", "Amazon S3 pricing"),
    "log": Price(0.50, "GB taken in", "Amazon CloudWatch pricing"),
    "metric": Price(0.30, "metric and month", "Amazon CloudWatch pricing"),
    "alarm": Price(0.10, "metric of an alarm and month", "Amazon CloudWatch pricing"),
    "dashboard": Price(3.00, "dashboard and month", "Amazon CloudWatch pricing"),
    "trace": Price(5.00 * M, "trace recorded", "AWS X-Ray pricing"),
    "key": Price(1.00, "key and month", "AWS Key Management Service pricing"),
    "secret": Price(0.40, "secret and month", "AWS Secrets Manager pricing"),
    "t3.small.search": Price(0.036, "hour", "Amazon OpenSearch Service pricing"),
    "m7g.medium.search": Price(0.068, "hour", "Amazon OpenSearch Service pricing"),
    "r7g.large.search": Price(0.178, "hour", "Amazon OpenSearch Service pricing"),
    "search disk": Price(0.122, "GB and month, gp3", "Amazon OpenSearch Service pricing"),
    "their event": Price(0.25 / 1000, "short-term event", "Amazon Bedrock AgentCore pricing, Memory"),
    "their retrieval": Price(0.50 / 1000, "retrieval", "Amazon Bedrock AgentCore pricing, Memory"),
}
