/** Whose memory, and which conversation: asked first by a token that sees more than one. */
import { useSignal } from "@preact/signals";
import { ours, type Schema } from "./api.ts";
import { usePages } from "./load.ts";
import { Busy, Empty, ErrorNote, Field, Text, Time, Window } from "./parts/index.ts";
import { go, href, place } from "./place.ts";

type Row = { id: string; title?: string | undefined; at?: string | undefined };

export function ChooseUser() {
  const { rows, ...state } = usePages<Schema["UserOut"]>("/users", "users");
  return <Choose what="user" none="Nothing is kept of anybody yet." rows={rows.map((row) => ({ id: row.user_id }))} {...state} />;
}

export function ChooseSession() {
  const { rows, ...state } = usePages<Schema["SessionOut"]>(ours`/sessions`, "sessions");
  const newest = rows.map((row) => ({ id: row.id, title: row.title ?? row.thread_title, at: row.last_event_at ?? row.started_at }));
  newest.sort((one, other) => (one.at < other.at ? 1 : -1));
  return <Choose what="session" none="This user has no session yet." rows={newest} {...state} />;
}

function Choose({ what, none, rows, loading, error, reload }: { what: "user" | "session"; none: string; rows: Row[]; loading: boolean; error: unknown; reload: () => void }) {
  const words = useSignal("");
  const { path } = place.value;
  const wanted = words.value.trim();
  const found = rows.filter((row) => row.id.includes(wanted) || row.title?.toLowerCase().includes(wanted.toLowerCase()));
  const choose = (id: string) => id && go(path, { [what]: id });
  const submit = (event: Event) => {
    event.preventDefault();
    choose(wanted);
  };
  return (
    <>
      <h2>{what === "user" ? "Whose memory?" : "Which conversation?"}</h2>
      <form class="filters" onSubmit={submit}>
        <Field label={`Search, or the id of a ${what}`} kind="search" value={words} />
        <button type="submit">Open</button>
      </form>
      <ErrorNote error={error} retry={reload} />
      {found.length > 0 ? (
        <Window
          rows={found}
          height={52}
          label={what === "user" ? "Users" : "Conversations"}
          id={(row) => row.id}
          onOpen={(row) => choose(row.id)}
          render={(row) => (
            <a class="line" href={href(path, { [what]: row.id })} tabIndex={-1}>
              <Text value={row.title ?? row.id} most={200} brief />
              <Time at={row.at} />
            </a>
          )}
        />
      ) : loading ? (
        <Busy />
      ) : (
        <Empty>{rows.length ? `No ${what} has these words: Open takes them as an id.` : none}</Empty>
      )}
    </>
  );
}
