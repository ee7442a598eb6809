/** Where the page begins. */
import "./app.css";
import { render } from "preact";
import { look } from "./place.ts";
import { Shell } from "./shell.tsx";
import { takeFromAddress } from "./token.ts";

const follow = () => {
  takeFromAddress();
  look();
};
follow();
addEventListener("hashchange", follow);
const root = document.getElementById("app");
if (root) render(<Shell />, root);
