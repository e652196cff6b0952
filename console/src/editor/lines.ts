// What the editor asks of a text, by lines from 1; CodeMirror's document fulfils it, and in tests an array.

export interface Lines {
  readonly count: number;
  text(line: number): string;
}

export function linesOf(text: string): Lines {
  const lines = text.split("\n");
  return { count: lines.length, text: (line) => lines[line - 1] ?? "" };
}

/** Where a column that the API counts in code points, from 1, is in a line of UTF-16. */
export function unitOf(line: string, column: number): number {
  let at = 0;
  for (let point = 1; point < column && at < line.length; point += 1)
    at += (line.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return at;
}
