/** One field of a form, with its label, a hint, and what the service found wrong with it. */
import type { Signal } from "@preact/signals";
import { useId } from "preact/hooks";

type Given = {
  label: string;
  value: Signal<string>;
  /** `area`: several lines; `options`: a choice of [value, words]. */
  kind?: "text" | "search" | "area" | "number" | "date" | "datetime-local";
  options?: (readonly [string, string])[];
  hint?: string;
  error?: string | undefined;
  rows?: number;
  required?: boolean;
  onChange?: (value: string) => void;
};

export function Field({ label, value, kind = "text", options, hint, error, rows = 4, required = false, onChange }: Given) {
  const id = useId();
  const note = error ?? hint;
  const common = {
    id,
    value: value.value,
    required,
    "aria-invalid": !!error,
    ...(note && { "aria-describedby": `${id}-note` }),
    onInput: (event: Event) => {
      value.value = (event.currentTarget as HTMLInputElement).value;
      onChange?.(value.value);
    },
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {options ? (
        <select {...common}>
          {options.map(([one, words]) => (
            <option value={one}>{words}</option>
          ))}
        </select>
      ) : kind === "area" ? (
        <textarea {...common} rows={rows} dir="auto" />
      ) : (
        <input {...common} type={kind as "text"} dir="auto" autocomplete="off" spellcheck={false} />
      )}
      {note && (
        <small id={`${id}-note`} class={error ? "bad" : "dim"}>
          {note}
        </small>
      )}
    </div>
  );
}
