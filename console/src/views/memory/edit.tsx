/** The two ways to say something else: an edit of the words, and a new statement in the place of this one.
 * What was typed outlives a refusal, an expired token and a look at another view. */
import { type Signal, signal } from "@preact/signals";
import { api, isConflict, ours, type Schema } from "../../api.ts";
import { Act, Diff, Field, Text } from "../../parts/index.ts";
import { user } from "../../place.ts";
import { CATEGORIES, choices, type Memory, STATUSES } from "./words.tsx";

type Values = Record<"text" | "tags" | "importance" | "category" | "valid_from" | "valid_until" | "reason", string>;
type Typed = { [Name in keyof Values]: Signal<string> };
/** `base`: what the person began from; `theirs`: what it became meanwhile. */
type Draft = { of: Typed; base: Memory; theirs: Signal<Memory | undefined>; put: Signal<string | undefined> };

const drafts = new Map<string, Draft>();
const key = (memory: Memory, as: string) => `${as} ${user.value} ${memory.id}`;

/** For `datetime-local`, in the zone of who looks. */
const local = (at?: string) => (at ? new Date(+new Date(at) - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16) : "");
const given = (memory: Memory, as: "edit" | "evolve"): Values => ({
  text: memory.text,
  tags: memory.tags.join(", "),
  importance: String(memory.importance),
  category: memory.category ?? "",
  valid_from: as === "edit" ? local(memory.valid_from) : "",
  valid_until: as === "edit" ? local(memory.valid_until) : "",
  reason: "",
});

function draftOf(memory: Memory, as: "edit" | "evolve"): Draft {
  const found = drafts.get(key(memory, as));
  if (found) return found;
  const of = Object.fromEntries(Object.entries(given(memory, as)).map(([name, value]) => [name, signal(value)])) as Typed;
  const draft = { of, base: memory, theirs: signal<Memory | undefined>(undefined), put: signal<string | undefined>(undefined) };
  drafts.set(key(memory, as), draft);
  return draft;
}
export const isDraft = (memory: Memory, as: string) => drafts.has(key(memory, as));

const iso = (text: string) => (text ? new Date(text).toISOString() : "");
const listed = (text: string) => text.split(",").map((one) => one.trim()).filter(Boolean);

/** Only what is another: a field that the person left alone keeps what somebody else wrote there. */
function changes({ of, base }: Draft) {
  const before = given(base, "edit");
  const is = (name: keyof Values) => of[name].value !== before[name];
  return {
    ...(is("text") && { text: of.text.value }),
    ...(is("tags") && { tags: listed(of.tags.value) }),
    ...(is("importance") && { importance: Number(of.importance.value) }),
    ...(is("category") && { category: of.category.value }),
    ...(is("valid_from") && { valid_from: iso(of.valid_from.value) }),
    ...(is("valid_until") && { valid_until: iso(of.valid_until.value) }),
  };
}

export type Saved = Schema["ChangedView"];
type Given = { memory: Memory; as: "edit" | "evolve"; onSaved: (now: Saved) => void; onTheirs: (now: Memory) => void; onClose: () => void };

export function Form({ memory, as, onSaved, onTheirs, onClose }: Given) {
  const draft = draftOf(memory, as);
  const { of, theirs } = draft;
  const leave = () => {
    drafts.delete(key(memory, as));
    onClose();
  };
  const save = async () => {
    const ifMatch = (theirs.value ?? draft.base).rev;
    const path = ours`/memories/${memory.id}`;
    const times = { ...(of.valid_from.value && { valid_from: iso(of.valid_from.value) }), ...(of.valid_until.value && { valid_until: iso(of.valid_until.value) }) };
    const now = as === "edit"
      ? await api.patch<Saved>(path, changes(draft), { ifMatch })
      : await api.post<Saved>(`${path}/evolve`, { text: of.text.value, reason: of.reason.value, ...times }, { ifMatch });
    drafts.delete(key(memory, as));
    onSaved(now);
  };
  /** The refusal is shown as well where the text is the same as before: then the reason is another one. */
  const conflict = (error: unknown) => {
    if (!isConflict(error)) return false;
    const was = (theirs.value ?? draft.base).rev;
    void api.get<Memory>(ours`/memories/${memory.id}`).then((now) => {
      if (now.rev === was && now.status === memory.status) return;
      theirs.value = now;
      onTheirs(now);
    });
    return error.status === 412;
  };
  const same = as === "edit" ? Object.keys(changes(draft)).length === 0 : !of.text.value.trim() || !of.reason.value.trim();
  return (
    <form class="box" aria-label={as === "edit" ? "Edit" : "Replace"} onSubmit={(event) => event.preventDefault()}>
      {theirs.value && <Both mine={of.text} theirs={theirs.value} put={draft.put} />}
      <Field label={as === "edit" ? "What it says" : "What holds now"} kind="area" rows={Math.min(12, 2 + Math.ceil(of.text.value.length / 90))} value={of.text} />
      {as === "evolve" ? (
        <div class="two">
          <Field label="Why" value={of.reason} required hint="Stands in the history of both." />
          <Field label="Holds from" kind="datetime-local" value={of.valid_from} />
        </div>
      ) : (
        <div class="filters">
          <Field label="Tags, between commas" value={of.tags} />
          {memory.category && <Field label="Category" options={choices("", CATEGORIES).slice(1)} value={of.category} />}
          <Field label="Importance" options={["1", "2", "3", "4", "5"].map((one) => [one, one])} value={of.importance} />
          <Field label="Holds from" kind="datetime-local" value={of.valid_from} />
          <Field label="Holds until" kind="datetime-local" value={of.valid_until} />
        </div>
      )}
      <div class="line">
        <Act class="main" act={save} caught={conflict} disabled={same}>{theirs.value ? "Save over what is there now" : as === "edit" ? "Save" : "Put it in the place of the old one"}</Act>
        <button type="button" onClick={leave}>Drop what I typed</button>
      </div>
    </form>
  );
}

/** Another has been faster: both texts, what is between them, and each of them can be put into the field. */
function Both({ mine, theirs, put }: { mine: Signal<string>; theirs: Memory; put: Signal<string | undefined> }) {
  const typed = put.value ?? mine.value;
  return (
    <div class="error" role="alert">
      <p><b>Somebody else changed it meanwhile.</b> Nothing is saved yet: choose one, or put them together in the field below.</p>
      <div class="two">
        <div>
          <h3>What is there now</h3>
          {theirs.status !== "active" && <p class="bad">{STATUSES[theirs.status] ?? theirs.status}</p>}
          <p class="theirs"><Text value={theirs.text} /></p>
          <button type="button" onClick={() => { put.value ??= mine.value; mine.value = theirs.text; }}>Take this one</button>
        </div>
        <div>
          <h3>What you typed</h3>
          <p class="mine"><Text value={typed} /></p>
          <button type="button" disabled={put.value === undefined} onClick={() => { mine.value = typed; put.value = undefined; }}>Take mine</button>
        </div>
      </div>
      <h3>From one to the other</h3>
      <Diff before={theirs.text} after={typed} />
    </div>
  );
}
