/** A table that scrolls in itself where the page is too narrow for it, also by the keyboard. */
import type { ComponentChildren } from "preact";

export const Table = ({ label, head, children }: { label: string; head: string[]; children: ComponentChildren }) => (
  <div class="wide" role="region" aria-label={label} tabIndex={0}>
    <table>
      <thead><tr>{head.map((one) => <th scope="col">{one}</th>)}</tr></thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);

export const Row = ({ name, children }: { name: ComponentChildren; children: ComponentChildren }) => (
  <tr><th scope="row">{name}</th>{children}</tr>
);
