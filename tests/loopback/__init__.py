"""A model provider on this machine: it refuses what Anthropic and OpenAI refuse, accounts for a prefix cache, and
answers by a script.

Tests of the SDKs and of the documents talk to it through the providers' own packages. ``python -m tests.loopback`` runs
it as a process of its own, for tests in other languages."""
