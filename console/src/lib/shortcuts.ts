// Keys that work on this page, and the list of them. Keys without Ctrl can be turned off: somebody who speaks to the
// computer would press them by speaking.
import { h } from "./dom";
import { button, dialog } from "./ui";

export interface Shortcut {
  keys: string;
  does: string;
}

const OFF = "headgate-single-keys-off";
const TAB = "headgate-tab-indents";
const PLACES: [string, string][] = [
  ["h", "Home"],
  ["c", "Configurations"],
  ["f", "Fleets"],
  ["l", "Flows"],
  ["k", "Components"],
];
const listed: Shortcut[] = [];

/** Whether somebody wants Tab to indent in the editor; Escape, then Tab, leaves it in any case. */
export function tabIndents(): boolean {
  return localStorage.getItem(TAB) !== null;
}

/** A page's own keys, for the list. */
export function list(...shortcuts: Shortcut[]): void {
  listed.push(...shortcuts);
}

/** Listens on the page, and puts a button for the list into its bar. */
export function install(): void {
  let isGoing = false;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    if (localStorage.getItem(OFF) !== null || document.querySelector("dialog[open]")) return;
    const place = isGoing ? tab(PLACES.find(([key]) => key === event.key)?.[1]) : null;
    isGoing = event.key === "g";
    if (place) place.click();
    else if (event.key === "?") show();
    else if (event.key === "/") document.querySelector<HTMLElement>('main input[type="search"]')?.focus();
    else return;
    event.preventDefault();
  });
  const keys = document.getElementById("keys");
  keys?.removeAttribute("hidden");
  keys?.addEventListener("click", show);
}

function show(): void {
  const places = PLACES.filter(([, name]) => tab(name)).map(([key, name]) => ({
    keys: `g ${key}`,
    does: `To ${name}`,
  }));
  const search = document.querySelector('main input[type="search"]') ? [{ keys: "/", does: "To the search" }] : [];
  const single = h("input", { id: "single-keys", type: "checkbox", checked: localStorage.getItem(OFF) === null });
  single.addEventListener("change", () =>
    single.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "yes"),
  );
  const indents = h("input", { id: "tab-indents", type: "checkbox", checked: tabIndents() });
  indents.addEventListener("change", () =>
    indents.checked ? localStorage.setItem(TAB, "yes") : localStorage.removeItem(TAB),
  );
  const shown = dialog(
    "Keys",
    h(
      "div",
      { class: "scrolls", tabindex: 0, role: "group", "aria-label": "Keys of this page" },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Key"), h("th", { scope: "col" }, "What it does"))),
        h(
          "tbody",
          {},
          ...[...listed, { keys: "?", does: "This list" }, ...search, ...places].map(({ keys, does }) =>
            h("tr", {}, h("td", {}, h("kbd", {}, keys)), h("td", {}, does)),
          ),
        ),
      ),
    ),
    h("div", { class: "check" }, single, h("label", { for: "single-keys" }, "Keys without Ctrl work (? / g)")),
    h(
      "div",
      { class: "check" },
      indents,
      h("label", { for: "tab-indents" }, "Tab indents in the editor; Esc, then Tab, leaves it"),
    ),
    h(
      "div",
      { class: "buttons" },
      button("Close", () => shown.close(), { class: "plain" }),
    ),
  );
}

function tab(name: string | undefined): HTMLAnchorElement | null {
  const tabs = [...document.querySelectorAll<HTMLAnchorElement>(".places a")];
  return tabs.find(({ textContent }) => textContent === name) ?? null;
}

/** Whether the key goes into a text: also into an editor, which is in a shadow root. */
function isTyping(event: KeyboardEvent): boolean {
  return event
    .composedPath()
    .some(
      (one) =>
        one instanceof HTMLElement && (one.isContentEditable || one.matches("input, textarea, select, .code-host")),
    );
}
