"""Amazon Bedrock on this machine: InvokeModel for Anthropic's models, with the signature checked."""
