"""Webhooks, and the log of their deliveries."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field

from neve.domain.outgoing.webhook import Attempt, Delivery, Webhook
from neve.http.operations import Body, Operation, Response, View, route
from neve.http.schemas.enums import DeliveryFailure, DeliveryOutcome, OutgoingType, WebhookText
from neve.http.schemas.fields import Filled, Time
from neve.http.schemas.tenants.admin import DISTINCT

MAX_URL = 2048


class WebhookBody(Body):
    url: Annotated[Filled, Field(max_length=MAX_URL)] = Field(
        description="`https://` and a host with public addresses alone. Redirects are not followed."
    )
    types: Annotated[list[OutgoingType], *DISTINCT] = Field(max_length=10, description="Which events it is sent.")
    include: WebhookText | None = Field(
        default=None, description="`text`: events about a memory that is there bring its text in `data.text`."
    )
    secret: Annotated[Filled, Field(max_length=100)] | None = Field(
        default=None,
        description="`whsec_` and the base64 of 24 to 64 bytes. Left out: the one that there is stays, and a new"
        " webhook is given one. For 24 h behind a change the one before signs, too.",
    )


class WebhookOut(View):
    id: str
    url: str
    types: list[OutgoingType]
    include: WebhookText | None
    created_at: Time
    rotating_until: Time | None = Field(description="Until then the secret before signs, too.")
    disabled_at: Time | None = Field(
        description="Since when it is sent nothing, because the receiver answered 410. `PUT` it to go on."
    )
    secret: str | None = Field(description="The one that Neve made, in the answer that made it alone.")

    @classmethod
    def of(cls, shown: Webhook, /, secret: str | None = None, *_: Any, **own: Any) -> Self:
        include = "text" if shown.include_text else None
        return super().of(shown, types=list(shown.types), include=include, secret=secret, **own)


class WebhooksOut(View):
    webhooks: list[WebhookOut]


class AttemptOut(View):
    delivered: bool
    status: int | None = Field(description="Left out where there was no answer.")
    failure: DeliveryFailure | None = Field(description="Left out where it arrived.")
    duration_ms: int

    @classmethod
    def of(cls, shown: Attempt, /, *_: Any, **own: Any) -> Self:
        return super().of(shown, **own)


class DeliveryOut(View):
    event_id: str
    event_type: str = Field(description="`webhook.test` of a test.")
    at: Time
    outcome: DeliveryOutcome = Field(
        description="`failed`: it is tried again. `given_up`: it is not, after 24 hours. `disabled`: the receiver wants"
        " nothing more."
    )
    attempt: int
    duration_ms: int
    status: int | None = Field(description="Left out where there was no answer.")
    failure: DeliveryFailure | None = Field(description="Left out where it arrived.")


class DeliveriesOut(View):
    deliveries: list[DeliveryOut]

    @classmethod
    def listing(cls, deliveries: list[Delivery]) -> Self:
        return cls(deliveries=[DeliveryOut.of(one) for one in deliveries])


def without_secret(answer: dict[str, Any]) -> dict[str, Any]:
    """Give what may be stored of the answer with a new webhook."""
    return {name: value for name, value in answer.items() if name != "secret"}


LIST_WEBHOOKS = Operation(
    **route("GET", "/v1/webhooks", "listWebhooks", "events", "admin"),
    summary="The tenant's webhooks, by their ids; ten at most.",
    responses={200: Response("The webhooks, without their secrets.", WebhooksOut)},
)

READ_WEBHOOK = Operation(
    **route("GET", "/v1/webhooks/{webhook_id}", "readWebhook", "events", "admin"),
    summary="One webhook.",
    responses={200: Response("The webhook, without its secret.", WebhookOut)},
    codes=("webhook_not_found",),
)

PUT_WEBHOOK = Operation(
    **route("PUT", "/v1/webhooks/{webhook_id}", "putWebhook", "events", "admin"),
    summary="Have events sent to a URL, signed by the scheme of Standard Webhooks.",
    description="Each event at least once, in order per user. What is not answered with 2xx within 10 s is sent again"
    " for 24 hours. A repeat changes nothing.",
    body=WebhookBody,
    responses={
        200: Response("What it is from now on.", WebhookOut),
        201: Response("The new webhook, with the secret where Neve made it.", WebhookOut),
    },
    codes=("too_many_webhooks", "conflict"),
    idempotent=True,
    by_key=True,
)

DELETE_WEBHOOK = Operation(
    **route("DELETE", "/v1/webhooks/{webhook_id}", "deleteWebhook", "events", "admin"),
    summary="Delete a webhook. What waits for it is not sent.",
    responses={204: Response("It is gone.")},
    codes=("webhook_not_found", "conflict"),
    idempotent=True,
)

TRY_WEBHOOK = Operation(
    **route("POST", "/v1/webhooks/{webhook_id}/test", "testWebhook", "events", "admin"),
    summary="Send it an event of the type `webhook.test` now, and say what became of that.",
    responses={200: Response("One attempt, whether or not it arrived.", AttemptOut)},
    codes=("webhook_not_found",),
    idempotent=True,
)

LIST_DELIVERIES = Operation(
    **route("GET", "/v1/webhooks/{webhook_id}/deliveries", "listDeliveries", "events", "admin"),
    summary="Its last 200 attempts of the last 7 days, newest first.",
    responses={200: Response("The attempts.", DeliveriesOut)},
    codes=("webhook_not_found",),
)
