/** The tenant's policy: every setting with its meaning, what differs from its default, and a look at the change before it is sent. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import settings from "settings:policy";
import { ApiError, api, type Schema } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { Act, Busy, Dialog, Diff, Empty, ErrorNote, Field } from "../../parts/index.ts";
import { href } from "../../place.ts";
import { type Values, SettingField } from "./setting.tsx";

type Policy = Schema["PolicyOut"];

/** In the order of the page; a setting that the API has and this does not is under the last one. */
const GROUPS: [string, RegExp][] = [
  ["Prompt and window", /^(window|budget_profile|static_prefix|chat_model|token_counter|summary_verbosity|.*_budget|compaction_trigger)$/],
  ["Recall", /^(recall_|prompt_share|rerank|languages|.*_budget_ms)/],
  ["What is remembered", /^(observer_|prior_|min_importance|review_mode|write_tools|pii|retention_days)/],
  ["Reflection and nights", /reflection_|timezone/],
  ["Money", /^(prices|cacheable_tokens)$/],
  ["Other", /./],
];
const GRAVE: Record<string, string> = {
  languages: "Every vector is made anew; until then recall works by keyword only.",
  window: "What is not set and follows the window changes with it.",
  retention_days: "Archived events that are older are removed for good.",
  static_prefix: "Every conversation writes its cache once again.",
};

export function PolicyView() {
  const { value, error, loading, reload } = useLoad((asked) => api.get<Policy>("/policy", asked), []);
  const [after, save] = useState<Policy>();
  const found = after ?? value;
  return (
    <>
      <ErrorNote error={error} retry={reload} />
      {found ? <Form found={found} onFound={save} /> : loading && <Busy />}
    </>
  );
}

function Form({ found, onFound }: { found: Policy; onFound: (policy: Policy) => void }) {
  const [draft, edit] = useState<Values>(found.policy);
  const [errors, refuse] = useState<ApiError>();
  const [theirs, meet] = useState<Policy>();
  const [asking, ask] = useState(false);
  const [told, tell] = useState("");
  const [times, again] = useState(0);
  const words = useSignal("");
  const only = useSignal("");
  const changes = changed(found.policy, draft);
  const wanted = words.value.trim().toLowerCase();
  const names = Object.keys(settings).filter((name) => (!only.value || name in draft) && `${name} ${settings[name]?.description}`.toLowerCase().includes(wanted));
  // What needs the whole width comes behind what stands beside each other.
  names.sort((one, other) => room(one) - room(other));

  const begin = (policy: Policy, values: Values) => {
    onFound(policy);
    edit(values);
    meet(undefined);
    again(times + 1);
  };
  const send = async () => {
    const next = await api.put<Policy>("/policy", draft, { ifMatch: found.rev });
    ask(false);
    refuse(undefined);
    begin(next, next.policy);
    tell("Saved. Other processes of the service follow within a minute.");
  };
  const caught = (error: unknown) => {
    if (!(error instanceof ApiError)) return false;
    refuse(undefined);
    if (error.status === 412) void api.get<Policy>("/policy").then(meet, refuse);
    else if (error.fields.length) refuse(error);
    else return false;
    ask(false);
    return true;
  };
  const mine = (policy: Policy) => {
    const kept = { ...policy.policy };
    for (const name of Object.keys(settings).filter((one) => !same(found.policy[one], draft[one]))) {
      if (name in draft) kept[name] = draft[name];
      else delete kept[name];
    }
    begin(policy, kept);
  };
  return (
    <>
      {found.reindex_job && <p class="away">Every vector is being made anew, as the languages changed: recall works by keyword only. <a href={href(["work"])}>Work</a></p>}
      {theirs && <Both was={found} theirs={theirs} draft={draft} onMine={() => mine(theirs)} onTheirs={() => begin(theirs, theirs.policy)} />}
      {errors && <Notice key={errors.requestId}><p>Not saved: {errors.fields.map(({ field }) => <button type="button" class="link" onClick={() => toField(field)}>{field}</button>)}</p></Notice>}
      <div class="filters">
        <Field label="Search" kind="search" value={words} />
        <Field label="Show" options={[["", "every setting"], ["set", "only what is set here"]]} value={only} />
      </div>
      {GROUPS.map(([group], at) => {
        const here = names.filter((name) => GROUPS.findIndex(([, one]) => one.test(name)) === at);
        return here.length > 0 && (
          <section>
            <h2>{group}</h2>
            <div class="settings">
              {here.map((name) => {
                const setting = settings[name];
                return setting && <SettingField key={`${name} ${times}`} path={name} setting={setting} value={draft[name]} inForce={name in found.policy ? setting.default : found.in_force[name]} errors={errors?.fields ?? []} onChange={(value) => edit((before) => put(before, name, value))} />;
              })}
            </div>
          </section>
        );
      })}
      {!names.length && <Empty>No setting is like this.</Empty>}
      <div class={changes.length ? "line send" : ""} role="status">
        {changes.length ? (
          <>
            <button type="button" class="main" onClick={() => ask(true)}>Look at {changes.length} {changes.length === 1 ? "change" : "changes"} and save</button>
            <button type="button" onClick={() => begin(found, found.policy)}>Take back</button>
          </>
        ) : told}
      </div>
      {asking && (
        <Dialog title="This will change" onClose={() => ask(false)}>
          <ul>{changes.map((path) => <li><b>{path}</b> <Change before={shown(found.policy, path, found.in_force)} after={shown(draft, path)} /></li>)}</ul>
          {Object.entries(GRAVE).map(([name, warning]) => changes.some((path) => path.split(".")[0] === name) && <p class="bad">{warning}</p>)}
          <div class="line">
            <Act class="main" act={send} caught={caught}>Save</Act>
            <button type="button" onClick={() => ask(false)}>Go on editing</button>
          </div>
        </Dialog>
      )}
    </>
  );
}

/** Somebody else was quicker: what is there now and what was typed, setting by setting. */
function Both({ was, theirs, draft, onMine, onTheirs }: { was: Policy; theirs: Policy; draft: Values; onMine: () => void; onTheirs: () => void }) {
  const paths = [...new Set([...changed(was.policy, theirs.policy), ...changed(was.policy, draft)])];
  return (
    <Notice>
      <p>Somebody else changed the policy meanwhile. Nothing of yours is lost.</p>
      <dl class="both">
        {paths.map((path) => (
          <>
            <dt>{path}</dt>
            <dd>there now: <b>{shown(theirs.policy, path)}</b><br />yours: <b>{shown(draft, path)}</b></dd>
          </>
        ))}
      </dl>
      <div class="line">
        <button type="button" class="main" onClick={onMine}>Put my changes on top of theirs</button>
        <button type="button" onClick={onTheirs}>Take theirs</button>
      </div>
    </Notice>
  );
}

/** Brought into view when it comes: what it answers to is at the other end of the page. */
function Notice({ children }: { children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), []);
  return <div class="error" role="alert" tabIndex={-1} ref={box}>{children}</div>;
}

/** Of a long text what changed in it, of all else what it was and will be. */
const Change = ({ before, after }: { before: string; after: string }) => (before.length + after.length > SHORT ? <Diff before={before} after={after} /> : <><del>{before}</del> → <ins>{after}</ins></>);
const SHORT = 80;

const toField = (path: string) => {
  const fields = [...document.querySelectorAll<HTMLElement>("[data-path]")].filter(({ dataset }) => dataset.path === path || path.startsWith(`${dataset.path}.`));
  fields.pop()?.querySelector<HTMLElement>("input, select, textarea")?.focus();
};

const room = (name: string) => Number(!!(settings[name]?.of ?? settings[name]?.each));
const put = (values: Values, name: string, value: unknown) => {
  const next = { ...values, [name]: value };
  if (value === undefined) delete next[name];
  return next;
};
const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Every number and text by its path: `pii.email`. */
function flat(value: unknown, path = ""): [string, unknown][] {
  if (typeof value !== "object" || value === null) return [[path, value]];
  return Object.entries(value).flatMap(([name, one]) => flat(one, path ? `${path}.${name}` : name));
}

function changed(before: Values, after: Values): string[] {
  const [was, is] = [new Map(flat(before)), new Map(flat(after))];
  return [...new Set([...was.keys(), ...is.keys()])].filter((path) => was.get(path) !== is.get(path));
}

function shown(values: Values, path: string, inForce: Values = {}): string {
  const value = new Map(flat(values)).get(path);
  if (value !== undefined) return String(value);
  const now = new Map(flat(inForce)).get(path);
  return now === undefined ? "the default" : `${String(now)}, the default`;
}
