// What two people made of one text.
import { diff3Merge } from "node-diff3";

export interface Merged {
  /** Both sides' changes; where both changed the same lines, mine. */
  text: string;
  /** How many places both changed differently. */
  conflicts: number;
}

/** The changes of `mine` and `theirs` since `base`, line by line. */
export function merged(mine: string, base: string, theirs: string): Merged {
  const lines: string[] = [];
  let conflicts = 0;
  for (const part of diff3Merge(mine.split("\n"), base.split("\n"), theirs.split("\n"), {
    excludeFalseConflicts: true,
  })) {
    lines.push(...(part.ok ?? part.conflict?.a ?? []));
    if (part.conflict) conflicts += 1;
  }
  return { text: lines.join("\n"), conflicts };
}
