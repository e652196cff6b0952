// What a component's configuration may have at a path, from the reference's list of fields.
import type { Field } from "../lib/types";
import { ITEM } from "./place";

const ANY = "<key>";

interface Node {
  field: Field | null;
  below: Map<string, Node>;
}

/** The fields of a component by their paths. */
export class Fields {
  private readonly root: Node = { field: null, below: new Map() };

  constructor(fields: Field[]) {
    for (const field of fields) this.add(field);
  }

  /** The fields directly below a path, by their names; a key of one's own choice has none. */
  below(path: string[]): Map<string, Field> {
    const found = new Map<string, Field>();
    for (const [name, node] of this.at(path)?.below ?? [])
      if (name !== ANY && name !== ITEM && node.field) found.set(name, node.field);
    return found;
  }

  get(path: string[]): Field | null {
    return this.at(path)?.field ?? null;
  }

  private add(field: Field): void {
    let node = this.root;
    for (const segment of segments(field.path)) {
      let next = node.below.get(segment);
      if (!next) node.below.set(segment, (next = { field: null, below: new Map() }));
      node = next;
    }
    node.field = field;
  }

  private at(path: string[]): Node | null {
    let node: Node | undefined = this.root;
    for (const segment of path) node = node?.below.get(segment) ?? node?.below.get(ANY);
    return node ?? null;
  }
}

/** `a.b[].<key>` as `a`, `b`, `[]`, `<key>`. */
function segments(path: string): string[] {
  return path.split(".").flatMap((part) => {
    const items = /(?<!\[\])(\[\])+$/.exec(part)?.[0] ?? "";
    return [part.slice(0, part.length - items.length), ...Array<string>(items.length / ITEM.length).fill(ITEM)];
  });
}
