"""``neve policy``, ``neve key``, ``neve token``, ``neve console``, ``neve usage``: the tenant's own, for which a key
needs the scope admin."""

from __future__ import annotations

import json
import webbrowser
from typing import Any

import click

from neve_cli import output
from neve_cli.context import Context, if_rev, matched, pass_context
from neve_cli.ids import NAME_ID, path_of

KEY = ["key_id", "key", "scopes", "label", "created_at"]
COSTS = ["model_calls", "model_input_tokens", "model_output_tokens", "embedded_texts", "reused_vectors"]
CACHE = ["reports", "hit_rate", "money.cost_usd", "money.saved_usd_no_cache", "unpriced_reports"]
TOTALS = ["users", *(f"usage.{name}" for name in COSTS), *(f"prompt_cache.{name}" for name in CACHE)]


@click.group()
def policy() -> None:
    """The tenant's numbers: show, set."""


@policy.command()
@click.option("--in-force", is_flag=True, help="Every number, after defaults, and not only what was set.")
@pass_context
def show(context: Context, /, in_force: bool) -> None:
    """What was set, as `set` takes it."""
    found = context.tenant_api.of_tenant("GET", "/policy")
    if context.as_json:
        output.fields(found, [], as_json=True)
        return
    click.echo(json.dumps(found["in_force" if in_force else "policy"], ensure_ascii=False, indent=2))
    output.note(f"rev {found['rev']}")


@policy.command("set")
@click.argument("file", type=click.File(encoding="utf-8-sig"), default="-")
@if_rev
@pass_context
def set_(context: Context, /, file: Any, if_rev: int | None) -> None:
    """Replace the policy by FILE, or standard input: what it leaves out goes back to its default."""
    try:
        numbers = json.loads(file.read())
    except (ValueError, RecursionError):
        raise click.UsageError("The policy is not JSON in UTF-8.") from None
    written = context.tenant_api.of_tenant("PUT", "/policy", numbers, headers=matched(if_rev))
    output.fields(written, ["rev", "policy"], as_json=context.as_json)


@click.group()
def key() -> None:
    """API keys, of which ten may live: create, revoke."""


@key.command()
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    type=click.Choice(["chat", "records", "admin", "documents", "tokens"]),
)
@click.option("--label")
@pass_context
def create(context: Context, /, scopes: tuple[str, ...], label: str | None) -> None:
    """A new key, which is shown once."""
    body = {"scopes": list(dict.fromkeys(scopes))} | ({"label": label} if label else {})
    made = context.tenant_api.of_tenant("POST", "/keys", body)
    output.fields(made, KEY, as_json=context.as_json)
    if "key" not in made:  # a lost answer was asked for again
        raise click.ClickException("its text was in an answer that got lost: revoke it, and create another one")


@key.command()
@click.argument("key_id", type=NAME_ID)
@pass_context
def revoke(context: Context, /, key_id: str) -> None:
    """Revoke KEY_ID."""
    context.tenant_api.remove_of_tenant(path_of("keys", key_id))
    output.note(f"{key_id} is revoked; a gateway may let it in for another minute.")


@click.command()
@click.argument("user", type=NAME_ID, required=False)
@click.option("--console", is_flag=True, help="Of no user: it sees the whole tenant, as the key does.")
@click.option("--scopes", required=True, help="What it may do, by commas: chat, records, documents, self; or admin.")
@click.option("--ttl", "ttl_s", type=click.IntRange(60, 3600), default=900, show_default=True, help="Seconds.")
@click.option("--label", help="Stands in it, for whoever holds it.")
@pass_context
def token(context: Context, /, user: str | None, console: bool, scopes: str, ttl_s: int, label: str | None) -> None:
    """A token of USER, or of --user, that stands for the key for a while. Needs the scope admin or tokens."""
    whose = user or context.user
    if (user and console) or not (console or whose):
        raise click.UsageError("Say whose token it is: neve token USER, or --console for the whole tenant.")
    wanted = list(dict.fromkeys(one.strip() for one in scopes.split(",") if one.strip()))
    if not wanted:
        raise click.UsageError("Say what it may do: --scopes chat.")
    body = {"scopes": wanted, "ttl_s": ttl_s} | ({"label": label} if label else {})
    path = "/tokens" if console else path_of("users", str(whose), "tokens")
    made = context.tenant_api.of_tenant("POST", path, body)
    if context.as_json:
        output.fields(made, [], as_json=True)
        return
    click.echo(made.text("token"))
    output.note(f"Good until {made.text('expires_at')} for {'the tenant' if console else whose}: {', '.join(wanted)}.")


@click.command()
@click.argument("user", type=NAME_ID, required=False)
@click.option("--scopes", help="What it may do, by commas; default: all that its views take.")
@click.option("--ttl", "ttl_s", type=click.IntRange(60, 3600), default=3600, show_default=True, help="Seconds.")
@click.option("--open", "opened", is_flag=True, help="In the browser, too.")
@pass_context
def console(context: Context, /, user: str | None, scopes: str | None, ttl_s: int, opened: bool) -> None:
    """The address of the console, with a token of USER, or of --user, in it; without one it opens every user's memory.
    Needs the scope admin, or tokens for a user."""
    whose = user or context.user
    named = scopes or ("chat,records,self" if whose else "chat,records,admin")
    wanted = [one.strip() for one in named.split(",")]
    path = path_of("users", whose, "tokens") if whose else "/tokens"
    made = context.tenant_api.of_tenant("POST", path, {"scopes": wanted, "ttl_s": ttl_s, "label": "console"})
    address, until = f"{context.url.rstrip('/')}/console/#token={made.text('token')}", made.text("expires_at")
    if context.as_json:
        output.fields({"address": address, "expires_at": until}, [], as_json=True)
    else:
        click.echo(address)
        output.note(f"Good until {until} for {whose or 'the tenant'}: {', '.join(wanted)}.")
    if opened and not webbrowser.open(address):
        raise click.ClickException("no browser could be opened: open the address yourself")


@click.command()
@pass_context
def usage(context: Context, /) -> None:
    """What the tenant's memory has cost, and what was reported of its prompts."""
    found = context.tenant_api.of_tenant("GET", "/usage")
    output.fields(found, TOTALS, as_json=context.as_json)
    if not found["complete"]:
        output.note("There are more users than one call can add up: every number is the least.")
