"""The time that the worker of the jobs queue may take, and what follows from it (docs/rules/jobs.md#queues).

``template.yaml`` repeats three of these numbers; a test compares them."""

from __future__ import annotations

DELIVERIES = 5
"""``maxReceiveCount`` of every queue: behind the last one a message is a dead letter."""
WORKER_S = 900
"""``Timeout`` of jobs: the longest that Lambda allows."""
SPARE_S = 60.0
"""Seconds: with less left the job is handed on to another worker."""
LEASE_S = WORKER_S + 10
"""Seconds in which no other worker takes a job up: one may still be at it."""
VISIBILITY_S = 6 * WORKER_S
"""The visibility timeout of the worker's queue, in seconds: what AWS asks for."""
