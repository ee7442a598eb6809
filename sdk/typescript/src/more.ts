/* What not every turn needs: a file of its own, loaded when it is. */
export { blocksOf } from "./blocks.js";
export { callTool, forget } from "./forget.js";
export { call } from "./raw.js";
export { retract } from "./retract.js";
export { tokensOf } from "./usage.js";
