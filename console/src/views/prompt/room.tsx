/** How the window is shared: two bars, and the room that each part had. */
import type { Schema } from "../../api.ts";
import { count, Tokens } from "../../parts/index.ts";
import { nameOf, type Part, type State, STATES } from "./parts.tsx";

type Report = Schema["ReportOut"];
type Segment = { name: string; tokens: number; state: State | "free" | "kept" };

/** Which sections of the report a number of the budget is for. */
const rooms = ({ budget }: Report): [string, number | undefined, string[]][] => [
  ["System", budget.system, ["tools", "static", "boundaries", "system", "instructions"]],
  ["Pack", budget.pack ?? budget.memories, ["pack"]],
  ["Changed and retrieved", budget.retrieved, ["updates", "retrieved"]],
  ["History", budget.history, ["history"]],
  ["Message", budget.message, ["message"]],
  ["Task", budget.task, ["task_state"]],
];

export function Room({ report, parts }: { report: Report; parts: Part[] }) {
  const { used, limit, pct, warning, budget } = report;
  const of = (state: State) => parts.filter((part) => part.state === state).reduce((sum, part) => sum + part.tokens, 0);
  const window: Segment[] = [...STATES.map(([state, name]) => ({ name, tokens: of(state), state })), { name: "free", tokens: Math.max(0, limit - used), state: "free" }, { name: "kept for the answer", tokens: budget.output, state: "kept" }];
  return (
    <>
      <p class="line">{STATES.map(([state, words]) => <span class={`key ${state}`}>{words} <Tokens count={of(state)} /></span>)}</p>
      <Bar label={`The prompt: ${count(used)} tokens`} of={parts.map(({ name, tokens, state }) => ({ name: nameOf(name), tokens, state }))} />
      <Bar label={`The window: ${count(budget.total)} tokens (${budget.profile}), ${(pct * 100).toFixed(1)} % of the input used`} of={window} bad={warning} />
      <details open>
        <summary>Room of each part</summary>
        <div class="wide" tabIndex={0} role="group" aria-label="Room of each part">
          <table>
            <thead><tr><th scope="col">Part</th><th scope="col">Used</th><th scope="col">Needed</th><th scope="col">Budget</th></tr></thead>
            <tbody>
              {rooms(report).map(([name, room, sections]) => {
                const those = report.sections.filter(({ section }) => sections.includes(section));
                const sum = (field: "used" | "need") => those.reduce((all, one) => all + one[field], 0);
                const short = sum("need") > sum("used");
                return <tr><th scope="row">{name}</th><td class="number">{count(sum("used"))}</td><td class={`number ${short ? "bad" : ""}`}>{count(sum("need"))}{short && " (cut)"}</td><td class="number">{room === undefined ? "shared" : count(room)}</td></tr>;
              })}
              <tr><th scope="row">All of the input</th><td class="number">{count(used)}</td><td /><td class="number">{count(limit)}</td></tr>
            </tbody>
          </table>
        </div>
      </details>
    </>
  );
}

function Bar({ label, of, bad = false }: { label: string; of: Segment[]; bad?: boolean }) {
  const there = of.filter(({ tokens }) => tokens > 0);
  const wide = there.reduce((sum, { tokens }) => sum + tokens, 0) / 16;
  return (
    <figure>
      <figcaption class={bad ? "bad" : ""}>{label}{bad && ": nearly full"}</figcaption>
      <div class="bar" role="img" aria-label={there.map(({ name, tokens }) => `${name} ${tokens}`).join(", ")}>
        {there.map(({ name, tokens, state }) => <span class={state} style={{ flexGrow: tokens }} title={`${name}: ${count(tokens)} tokens`}>{tokens > wide && name}</span>)}
      </div>
    </figure>
  );
}
