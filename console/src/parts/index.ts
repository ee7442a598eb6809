/** All that a view takes from. */
export { Chart } from "./chart.tsx";
export { Dialog } from "./dialog.tsx";
export { Diff } from "./diff.tsx";
export { Field } from "./field.tsx";
export { Act, Badge, Busy, Empty, ErrorNote, Money, Time, Tokens, count, money } from "./small.tsx";
export { Text, plain } from "./text.tsx";
export { Window } from "./window.tsx";
