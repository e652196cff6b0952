// Going to a component by its name, and from where it is used to where it is declared.
import type { EditorState } from "@codemirror/state";
import { documentLines } from "./assist";
import { pick } from "../lib/picker";
import { type Entry, outline, placeAt } from "./place";

/** Asks for a name, and goes to what is chosen with the keyboard or the pointer. */
export function choose(entries: Entry[], goTo: (line: number) => void): void {
  pick(
    "go-to",
    "Go to",
    { input: "Component or pipeline", list: "Components and pipelines" },
    entries.map(({ section, id, line }) => ({ name: id, about: `${section}, line ${line}`, take: () => goTo(line) })),
  );
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
