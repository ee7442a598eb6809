/** The few figures that matter, each with what it is and what it is made of. */
import type { ComponentChildren } from "preact";
import "./tiles.css";

type Figure = { name: string; value: ComponentChildren; note?: ComponentChildren; kind?: "good" | "bad" | undefined };

export const Tiles = ({ of }: { of: Figure[] }) => (
  <dl class="tiles">
    {of.map(({ name, value, note, kind = "" }) => (
      <div class="box">
        <dt>{name}</dt>
        <dd>
          <b class={kind}>{value}</b>
          {note && <small class="dim">{note}</small>}
        </dd>
      </div>
    ))}
  </dl>
);
