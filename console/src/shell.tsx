/** What stands around every view: navigation, whose memory it is, the mark of a service that is away, the token. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { down, lastAnswer, tryNow } from "./api.ts";
import { ChooseSession, ChooseUser } from "./choose.tsx";
import { Dialog, Empty, Field, plain } from "./parts/index.ts";
import { href, place, session, user } from "./place.ts";
import { type Route, routes } from "./routes.ts";
import { identity, leave, may, refused, take, wanted } from "./token.ts";

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const open = (route: Route) => route.scopes.some(may) && (route.of !== "tenant" || !identity.value?.user);

export function Shell() {
  if (!identity.value) return <SignIn />;
  const first = place.value.path[0];
  const route = first ? routes.find(({ path }) => path === first) : routes.find(open);
  return (
    <>
      <a class="skip" href="#main" onClick={toMain}>Skip to the content</a>
      <header>
        <b>Neve</b>
        <Whose />
        <button type="button" class="link" onClick={leave}>Leave</button>
      </header>
      <nav aria-label="Views">
        {routes.filter((one) => !one.under && open(one)).map((one) => (
          <a href={href([one.path])} aria-current={one.path === (route?.under ?? route?.path) ? "page" : undefined}>{one.name}</a>
        ))}
      </nav>
      <Away />
      <Main route={route} />
      {wanted.value && (
        <Dialog title="A new token, please">
          <p>{wanted.value} The page goes on with another one; nothing that you typed is lost.</p>
          <TokenForm />
          <button type="button" class="link" onClick={leave}>Leave the page</button>
        </Dialog>
      )}
    </>
  );
}

const toMain = (event: Event) => {
  event.preventDefault();
  document.querySelector<HTMLElement>("h1")?.focus();
};

function Main({ route }: { route: Route | undefined }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const first = useRef(true);
  const name = route?.name ?? "There is no such view";
  useEffect(() => {
    document.title = user.value ? `${name} · ${plain(user.value)} · Neve` : `${name} · Neve`;
    // Of a page that was just opened the focus is the browser's; from then on a view that is gone to begins at its heading.
    if (!first.current) heading.current?.focus();
    first.current = false;
  }, [name, place.value.path.join("/")]);
  return (
    <main id="main">
      <h1 ref={heading} tabIndex={-1}>{name}</h1>
      {content(route)}
    </main>
  );
}

/** A view of one user is never that of another one with other contents: its state goes with its key. */
function content(route: Route | undefined) {
  if (!route) return <Empty>This address leads nowhere: the views are above.</Empty>;
  if (!open(route)) return <Empty>The token does not open this: it takes one of {route.of === "tenant" ? "the tenant" : "the scope"} {route.scopes.join(" or ")}.</Empty>;
  if (route.of !== "tenant" && !user.value) return <ChooseUser />;
  if (route.of === "session" && !session.value) return <ChooseSession />;
  return <route.View key={`${route.path} ${user.value} ${route.of === "session" ? session.value : ""}`} />;
}

function Whose() {
  const { user: own } = identity.value ?? {};
  if (own) return <span class="grow">{plain(own)}</span>;
  return (
    <span class="grow">
      {user.value && plain(user.value)}{" "}
      {user.value && <a href={href(place.value.path.slice(0, 1), { user: undefined, session: undefined })}>other user</a>}{" "}
      {session.value && <a href={href(place.value.path.slice(0, 1), { session: undefined })}>other session</a>}
    </span>
  );
}

function Away() {
  return (
    <div role="status">
      {down.value && (
        <p class="away">
          The service is not reachable: what is shown is as of {clock.format(lastAnswer.value)}.{" "}
          <button type="button" class="link" onClick={tryNow}>Try now</button>
        </p>
      )}
    </div>
  );
}

function SignIn() {
  return (
    <main>
      <h1>What Neve remembers</h1>
      <p>This page needs an access token or an API key. It is kept in memory only, and is gone with the page.</p>
      <TokenForm />
      <p class="dim">On your own machine <code>neve console</code> prints the address of this page with a token in it.</p>
    </main>
  );
}

function TokenForm() {
  const text = useSignal("");
  const error = useSignal(refused.value);
  const submit = (event: Event) => {
    event.preventDefault();
    error.value = take(text.value);
  };
  return (
    <form onSubmit={submit}>
      <Field label="Token" value={text} error={error.value} required />
      <button type="submit" class="main">Go on</button>
    </form>
  );
}
