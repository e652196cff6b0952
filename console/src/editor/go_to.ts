// Going to a component by its name, and from where it is used to where it is declared.
import type { EditorState } from "@codemirror/state";
import { documentLines } from "./assist";
import { h } from "../lib/dom";
import { dialog } from "../lib/ui";
import { type Entry, outline, placeAt } from "./place";

const MOST = 50;

/** Asks for a name, and goes to what is chosen with the keyboard or the pointer. */
export function choose(entries: Entry[], goTo: (line: number) => void): void {
  let found: Entry[] = [];
  let at = 0;
  const input = h("input", {
    id: "go-to",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "go-to-list",
    "aria-label": "Component or pipeline",
    autocomplete: "off",
    spellcheck: "false",
  });
  const list = h("ul", {
    id: "go-to-list",
    role: "listbox",
    class: "choices",
    "aria-label": "Components and pipelines",
  });
  const go = (): void => {
    const entry = found[at];
    if (!entry) return;
    shown.close();
    goTo(entry.line);
  };
  const draw = (): void => {
    list.replaceChildren(
      ...found.map(({ section, id, line }, n) =>
        h(
          "li",
          {
            role: "option",
            id: `go-to-${n}`,
            "aria-selected": String(n === at),
            click: () => {
              at = n;
              go();
            },
          },
          `${id} `,
          h("span", { class: "soft small" }, `${section}, line ${line}`),
        ),
      ),
    );
    if (found.length) input.setAttribute("aria-activedescendant", `go-to-${at}`);
    else input.removeAttribute("aria-activedescendant");
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const search = (): void => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = entries
      .filter(({ section, id }) => words.every((word) => `${section} ${id}`.toLowerCase().includes(word)))
      .slice(0, MOST);
    at = 0;
    draw();
  };
  input.addEventListener("input", search);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") go();
    else if (step && found.length) {
      at = (at + step + found.length) % found.length;
      draw();
    } else return;
    event.preventDefault();
  });
  const shown = dialog("Go to", input, list);
  search();
  input.focus();
}

/** The line that declares what is named at a place; of a declaration, the pipeline that uses it first. Null if neither. */
export function declaration(state: EditorState, pos: number): number | null {
  const lines = documentLines(state.doc);
  const line = state.doc.lineAt(pos);
  const at = pos - line.from;
  const id = `${/(?<![^\s[\],"'])[^\s[\],"']*$/.exec(line.text.slice(0, at))?.[0] ?? ""}${/^[^\s[\],"':]*/.exec(line.text.slice(at))?.[0] ?? ""}`;
  const { path, inKey } = placeAt(lines, line.number, at);
  const [section, first, , list] = path;
  const entries = outline(lines);
  const declared = (...sections: string[]): number | null =>
    entries.find((one) => sections.includes(one.section) && one.id === id)?.line ?? null;
  if (section === "service" && first === "extensions") return declared("extensions");
  if (section === "service" && list) return declared(list, "connectors");
  if (id === "" || !inKey || section === "service" || first !== undefined) return null;
  const word = new RegExp(`(^|[\\s,[\\]"'-])${id.replace(/[^\w]/g, "\\$&")}($|[\\s,[\\]"'#])`);
  for (let n = 1; n <= lines.count; n += 1)
    if (
      n !== line.number &&
      word.test(lines.text(n)) &&
      placeAt(lines, n, lines.text(n).indexOf(id)).path[0] === "service"
    )
      return n;
  return null;
}
