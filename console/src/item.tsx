/** What an id stands for: the text of a memory, of an utterance, or the name of a document, read once and kept. */
import { useEffect, useState } from "preact/hooks";
import { api, ours, type Schema } from "./api.ts";
import { Badge, Text } from "./parts/index.ts";
import { href, user } from "./place.ts";

export type Told = { text: string; note?: string | undefined; to?: string };

/** By user and id. What was read stands for as long as the page does; what failed is asked for again. */
const known = new Map<string, Promise<Told>>();
const name = (id: string) => `${user.value} ${id}`;

/** What an answer has told already need not be asked for. */
export const tell = (id: string, told: Told) => void known.set(name(id), Promise.resolve(told));

export function told(id: string): Promise<Told> {
  const before = known.get(name(id));
  if (before) return before;
  const asked = read(id);
  known.set(name(id), asked);
  asked.catch(() => known.delete(name(id)));
  return asked;
}

const place = (id: string) => /^evt:(.+):(\d+)$/.exec(id);

async function read(id: string): Promise<Told> {
  const [, session = "", seq = ""] = place(id) ?? [];
  if (session) {
    const { events } = await api.get<{ events: Schema["EventOut"][] }>(ours`/sessions/${session}/events`, { query: { from_seq: seq, limit: 1 } });
    const event = events[0];
    return { text: event ? said(event) : id, note: event && speaker(event), to: linkOf(id) };
  }
  if (id.startsWith("doc_")) {
    const { documents } = await api.get<{ documents: Schema["DocumentHeadView"][] }>(ours`/documents/list`, { query: { limit: 200 } });
    const found = documents.find((one) => one.id === id);
    return { text: found ? `${found.name}: ${found.summary}` : id, note: found?.path ?? "document" };
  }
  const memory = await api.get<Schema["MemoryView"]>(ours`/memories/${id}`);
  return { text: memory.text, note: memory.label ?? memory.kind, to: linkOf(id) };
}

export const linkOf = (id: string) => {
  const [, session, seq] = place(id) ?? [];
  return session ? href(["conversation"], { session, seq }) : id.startsWith("doc_") ? "" : href(["memory", id]);
};

/** The words of an event; what it shows besides is named. */
export const said = ({ content, event_type, name: tool, event_data }: Schema["EventOut"]): string => {
  if (typeof content === "string") return content;
  const words = content?.map((block) => (typeof block.text === "string" ? block.text : `[${String(block.type)}]`)).join("\n");
  return words || `[${event_type} ${tool ?? String(event_data?.name ?? "")}]`;
};
export const speaker = ({ event_type, participant, name: by }: Schema["EventOut"]) => participant ?? by ?? event_type.replace(/_(message|response)$/, "").replace("_", " ");

/** The text, with where it is from; the id where nothing can be read of it any more. */
export function Item({ id, brief = false }: { id: string; brief?: boolean }) {
  const [now, set] = useState<Told>();
  useEffect(() => {
    let here = true;
    const show = (of: Told) => here && set(of);
    told(id).then(show, () => show({ text: id, note: "cannot be read any more" }));
    return () => void (here = false);
  }, [id, user.value]);
  if (!now) return <span class="dim">{id}</span>;
  const text = <Text value={now.text} most={300} brief={brief} />;
  return (
    <>
      {now.to && !brief ? <a class="plain" href={now.to} title={id}>{text}</a> : text} {now.note && !brief && <Badge>{now.note}</Badge>}
    </>
  );
}
