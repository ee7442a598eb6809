/** Text that others wrote: only ever as text, its own direction kept inside, with what cannot be seen made visible. */
import { useState } from "preact/hooks";

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;
const MOST = 2_000;

const mark = (letter: string) => {
  const code = letter.codePointAt(0) ?? 0;
  return code < 32 ? String.fromCodePoint(0x2400 + code) : code === 127 ? "␡" : `⟪U+${code.toString(16).toUpperCase().padStart(4, "0")}⟫`;
};

/** As one string, for a title or an `<option>`, where there can be no marks. */
export const plain = (text: string) => text.replace(HIDDEN, mark);

export function marked(text: string) {
  const parts = [];
  let at = 0;
  for (const { 0: letter, index } of text.matchAll(HIDDEN)) {
    parts.push(text.slice(at, index), <span class="mark" title="A character that cannot be seen">{mark(letter)}</span>);
    at = index + letter.length;
  }
  parts.push(text.slice(at));
  return parts;
}

/** Never between the halves of one character. */
const cut = (text: string, most: number) => text.slice(0, /[\ud800-\udbff]/.test(text[most - 1] ?? "") ? most - 1 : most);

/** `most`: letters until "show all"; `brief`: in one piece without it, for a row of a list. */
export function Text({ value, most = MOST, brief = false }: { value: string; most?: number; brief?: boolean }) {
  const [whole, show] = useState(false);
  const short = value.length > most && !whole;
  return (
    <span class={brief ? "text brief" : "text"} dir="auto">
      {marked(short ? cut(value, most) : value)}
      {short && "…"}
      {short && !brief && (
        <button type="button" class="link" onClick={() => show(true)}>
          show all {value.length.toLocaleString("en")} letters
        </button>
      )}
    </span>
  );
}
