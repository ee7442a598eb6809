/** Where else the words of a memory may still stand: of `also_in`, in sentences with a link to each place. */
import { api, ours, type Schema } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { Text } from "../../parts/index.ts";
import { href } from "../../place.ts";
import { type Memory, STATUSES } from "./words.tsx";

export const seqs = (from: number, to?: number) => (!to || to === from ? `#${from}` : `#${from}–#${to}`);

export function Copies({ copies, complete = true }: { copies: Schema["CopyView"][]; complete?: boolean | undefined }) {
  return (
    <ul>
      {copies.map((copy, at) => (
        <li>
          <Place copy={copy} at={at} /> <span class="dim">{copy.because === "same_words" ? "says the same" : "made of the same messages"}</span>
        </li>
      ))}
      {!complete && <li class="dim">and perhaps in more places: not everything was looked at.</li>}
    </ul>
  );
}

/** What a memory says, for a link to it: 50 of them would be 50 requests. */
const MOST_READ = 12;
export function Words({ id }: { id: string }) {
  const { value } = useLoad((asked) => api.get<Memory>(ours`/memories/${id}`, asked), [id]);
  return <Text value={value?.text ?? id} most={160} brief />;
}

function Place({ copy: { where, id, path, status, session_id: session, seq_from: seq = 1, seq_to }, at }: { copy: Schema["CopyView"]; at: number }) {
  if (where === "memory") return <><a href={href(["memory", id ?? ""])}>{at < MOST_READ ? <Words id={id ?? ""} /> : "another memory"}</a> {status && status !== "active" && `(${STATUSES[status] ?? status})`}</>;
  if (where === "document") return <>the document <Text value={path ?? id ?? ""} /></>;
  return (
    <a href={href(["conversation"], { session, seq })}>
      {where === "events" ? "the messages" : "the summary of"} {seqs(seq, seq_to)} of <Text value={session ?? ""} most={60} />
    </a>
  );
}
