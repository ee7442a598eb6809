/** One setting as the API's schema describes it: a number, a text, a choice, or an object of these. */
import { useSignal } from "@preact/signals";
import type { Setting } from "settings:policy";
import { Badge, Field } from "../../parts/index.ts";
import "./setting.css";

export type Values = Record<string, unknown>;
type Given = {
  path: string;
  setting: Setting;
  /** What the tenant set; undefined where the default is in force. */
  value: unknown;
  /** What counts while the tenant sets nothing; undefined where that is not known before it is saved. */
  inForce: unknown;
  errors: { field: string; message: string }[];
  onChange: (value: unknown) => void;
};
const AREA_FROM = 1_000;
const OWN = "your own numbers";

export function SettingField(given: Given) {
  const { path, setting, value, errors, onChange } = given;
  const wide = setting.of || setting.each;
  return (
    <div class={`box ${wide ? "all" : ""} ${value !== undefined ? "set" : ""}`} data-path={path}>
      {wide && !setting.enum && <h3>{path}</h3>}
      {wide && !setting.enum && <p class="dim">{setting.description}</p>}
      {setting.each ? <Named {...given} each={setting.each} /> : setting.enum && setting.of ? <Either {...given} /> : setting.of ? <Parts {...given} /> : <Leaf {...given} />}
      {wide && errors.filter(({ field }) => field === path).map(({ message }) => <p class="bad">{message}</p>)}
      {value !== undefined && (
        <p class="line">
          <Badge>set here</Badge>
          <button type="button" class="link" onClick={() => onChange(undefined)}>back to the default{plainDefault(setting)}</button>
        </p>
      )}
    </div>
  );
}

const plainDefault = ({ default: of, type }: Setting) => (of === undefined || typeof of === "object" ? "" : `, ${type === "integer" ? Number(of).toLocaleString("en") : String(of)}`);

/** What was set, else what is in force: so that one sees the number that counts. */
function Leaf({ path, setting, value, inForce, errors, onChange }: Given) {
  const text = useSignal("");
  const typed = useSignal<unknown>(NOTHING_YET);
  // What is typed stays as it is typed ("0." on the way to "0.5"); what comes from elsewhere is shown as it comes.
  if (typed.peek() !== value) {
    typed.value = value;
    text.value = String(value ?? inForce ?? setting.default ?? "");
  }
  const change = (now: string) => {
    typed.value = now === "" ? undefined : setting.type === "string" || setting.enum || Number.isNaN(Number(now)) ? now : Number(now);
    onChange(typed.peek());
  };
  const label = path.split(".").pop() ?? path;
  const error = errors.find(({ field }) => field === path)?.message;
  const hint = setting.description?.replaceAll("`", "") ?? "";
  return setting.enum ? (
    <Field label={label} hint={hint} error={error} value={text} options={setting.enum.map((one) => [one, one])} onChange={change} />
  ) : (
    <Field label={label} hint={hint} error={error} value={text} kind={(setting.maxLength ?? 0) >= AREA_FROM ? "area" : "text"} onChange={change} />
  );
}
const NOTHING_YET = {};

function Parts({ path, setting, value, inForce, errors, onChange }: Given) {
  const values = (value ?? {}) as Values;
  const change = (name: string, of: unknown) => {
    const next = { ...values, [name]: of };
    if (of === undefined) delete next[name];
    onChange(Object.keys(next).length ? next : undefined);
  };
  return (
    <div class="settings">
      {Object.entries(setting.of ?? {}).map(([name, one]) => (
        <div class={(one.maxLength ?? 0) >= AREA_FROM ? "all" : ""} data-path={`${path}.${name}`}>
          <Leaf path={`${path}.${name}`} setting={one} value={values[name]} inForce={(inForce as Values | undefined)?.[name]} errors={errors} onChange={(of) => change(name, of)} />
        </div>
      ))}
    </div>
  );
}

/** One of the names, or numbers of one's own. */
function Either(given: Given) {
  const { path, setting, value, inForce, onChange } = given;
  const now = value ?? inForce;
  const own = typeof now === "object";
  const choice = useSignal("");
  choice.value = own ? OWN : String(now);
  const names = [...(setting.enum ?? []), OWN];
  return (
    <>
      <Field label={path} hint={setting.description ?? ""} value={choice} options={names.map((one) => [one, one])} onChange={(name) => onChange(name === OWN ? {} : name)} />
      {own && <Parts {...given} inForce={undefined} />}
    </>
  );
}

/** By names that are the tenant's: models. */
function Named({ path, each, value, errors, onChange }: Given & { each: Setting }) {
  const added = useSignal("");
  const values = (value ?? {}) as Values;
  const change = (name: string, of: unknown) => {
    const next = { ...values, [name]: of };
    if (of === undefined) delete next[name];
    onChange(Object.keys(next).length ? next : undefined);
  };
  const add = () => {
    if (!added.value.trim()) return;
    change(added.value.trim(), each.of ? {} : 0);
    added.value = "";
  };
  return (
    <>
      {Object.entries(values).map(([name, one]) => (
        <div class="box" key={name} data-path={`${path}.${name}`}>
          {each.of && <b>{name}</b>}
          {each.of ? (
            <Parts path={`${path}.${name}`} setting={each} value={one} inForce={undefined} errors={errors} onChange={(of) => change(name, of ?? {})} />
          ) : (
            <Leaf path={`${path}.${name}`} setting={each} value={one} inForce={undefined} errors={errors} onChange={(of) => change(name, of ?? 0)} />
          )}
          <button type="button" class="link" onClick={() => change(name, undefined)}>remove {name}</button>
        </div>
      ))}
      <div class="line">
        <Field label={`Add to ${path}: the model's name`} value={added} />
        <button type="button" onClick={add}>Add</button>
      </div>
    </>
  );
}
