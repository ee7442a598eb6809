/** A chart in the page's own colours, with the same numbers as a table for who cannot see it. */
export type Series = { name: string; values: number[] };
type Given = { label: string; x: string[]; series: Series[]; kind?: "bars" | "lines"; format?: (value: number) => string };

const WIDTH = 600;
const HEIGHT = 160;
const FOOT = 18;

export function Chart({ label, x, series, kind = "bars", format = String }: Given) {
  const top = Math.max(1e-9, ...(kind === "bars" ? x.map((_, at) => series.reduce((sum, one) => sum + (one.values[at] ?? 0), 0)) : series.flatMap((one) => one.values)));
  const step = WIDTH / Math.max(1, x.length);
  const y = (value: number) => HEIGHT - (value / top) * HEIGHT;
  const bars = () => x.map((_, at) => {
    let below = 0;
    return series.map((one, of) => {
      const value = one.values[at] ?? 0;
      below += value;
      return <rect class={`c${of}`} x={at * step + step * 0.1} width={step * 0.8} y={y(below)} height={HEIGHT - y(value)} />;
    });
  });
  const lines = () => series.map((one, of) => <polyline class={`c${of}`} points={one.values.map((value, at) => `${(at + 0.5) * step},${y(value)}`).join(" ")} />);
  return (
    <figure>
      <figcaption>
        {label}
        {series.length > 1 && series.map((one, of) => <span class={`key c${of}`}>{one.name}</span>)}
        <span class="dim">at most {format(top)}</span>
      </figcaption>
      <svg viewBox={`0 -4 ${WIDTH} ${HEIGHT + FOOT}`} role="img" aria-label={label} class={kind}>
        {kind === "bars" ? bars() : lines()}
        <line x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
        <text x="0" y={HEIGHT + 13}>{x[0]}</text>
        <text x={WIDTH} y={HEIGHT + 13} text-anchor="end">{x.length > 1 && x[x.length - 1]}</text>
      </svg>
      <details>
        <summary>As a table</summary>
        <div class="wide">
          <table>
            <thead><tr><th /> {series.map((one) => <th scope="col">{one.name}</th>)}</tr></thead>
            <tbody>{x.map((name, at) => <tr><th scope="row">{name}</th>{series.map((one) => <td class="number">{format(one.values[at] ?? 0)}</td>)}</tr>)}</tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}
