"""The real servers that stand in for AWS's stores on one machine: OpenSearch, DynamoDB Local, ElasticMQ, S3Proxy."""
