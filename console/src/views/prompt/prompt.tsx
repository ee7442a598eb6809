/** What the model saw: the request of a turn as it is compiled, part by part, with what the provider's cache has of it. */
import "./prompt.css";
import { useSignal } from "@preact/signals";
import { api, ours, type Schema } from "../../api.ts";
import { said } from "../../item.tsx";
import { useLoad } from "../../load.ts";
import { Act, Busy, Empty, ErrorNote, Field } from "../../parts/index.ts";
import { session } from "../../place.ts";
import { press } from "../recall/recalls.tsx";
import { LeftOut } from "./leftout.tsx";
import { partsOf, Parts, type Seen } from "./parts.tsx";
import { Room } from "./room.tsx";

type Newest = { waits: boolean; message: string };
const LAST = 100;

/** What the user said last, and whether it waits for its answer. */
const newest = async (asked: Parameters<typeof api.get>[1]): Promise<Newest> => {
  const { events } = await api.get<{ events: Schema["EventOut"][] }>(ours`/sessions/${session.value}/events`, { ...asked, query: { order: "desc", limit: LAST } });
  const shown = events.filter((event) => !event.retracted && !event.erased);
  const last = shown.find((event) => event.event_type === "user_message");
  return { waits: /^(user_message|tool_result)$/.test(shown[0]?.event_type ?? ""), message: last ? said(last) : "" };
};

const compiled = (message: string) =>
  api.ask<Seen>(ours`/context`, { session_id: session.value, dry_run: true, with_request: true, ...(message.trim() && { message }) });

export function Prompt() {
  const { value, error, loading, reload } = useLoad(newest, [session.value]);
  return (
    <>
      <ErrorNote error={error} retry={reload} />
      {value ? <Of newest={value} /> : loading && <Busy />}
    </>
  );
}

/** Of the newest turn first; then of whatever is typed. */
function Of({ newest: { waits, message } }: { newest: Newest }) {
  const text = useSignal(waits ? "" : message);
  const asked = useSignal(text.value);
  const { value, error, loading, reload } = useLoad(async () => (waits || asked.value.trim() ? compiled(asked.value) : undefined), [asked.value]);
  const show = async () => {
    if (asked.value === text.value) reload();
    asked.value = text.value;
  };
  const what = asked.value !== (waits ? "" : message) ? "If this were said now" : waits ? "The turn that waits for its answer" : "The newest message, as if it were said again now";
  return (
    <>
      <form class="ask" onSubmit={press}>
        <Field label={waits ? "Another message in its place" : "What the user says"} kind="area" rows={2} value={text} />
        <Act act={show} class="main" disabled={!waits && !text.value.trim()}>Show what the model would see</Act>
      </form>
      <ErrorNote error={error} retry={reload} />
      {value ? <Shown seen={value} what={what} /> : loading ? <Busy /> : error || <Empty>Nothing was said in this session yet: type a message above.</Empty>}
    </>
  );
}

function Shown({ seen, what }: { seen: Seen; what: string }) {
  const parts = partsOf(seen);
  return (
    <>
      <h2>{what}</h2>
      <Room report={seen.report} parts={parts} />
      <LeftOut seen={seen} />
      <h2>The request, in its order</h2>
      {parts.map((part) => <Parts key={part.name} part={part} />)}
    </>
  );
}
