// The words of an OTTL expression, to colour them. Only the linter knows whether they are right.

export type Word = "string" | "number" | "keyword" | "function" | "converter" | "enum" | "path" | "operator";

export interface Token {
  from: number;
  to: number;
  word: Word;
}

const WORDS =
  /(?<string>"(?:[^"\\]|\\.)*"?)|(?<number>\b0x[0-9a-fA-F]+\b|\b\d+(?:\.\d+)?\b)|(?<name>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)|(?<operator>==|!=|<=|>=|[<>+*/=-])/g;
const KEYWORDS = new Set(["and", "or", "not", "where", "true", "false", "nil"]);
const MOST = 2_000;

export function tokens(expression: string): Token[] {
  const found: Token[] = [];
  for (const match of expression.matchAll(WORDS)) {
    if (found.length === MOST) break;
    const { string, number, name } = match.groups ?? {};
    const from = match.index;
    const to = from + match[0].length;
    const word: Word =
      string !== undefined
        ? "string"
        : number !== undefined
          ? "number"
          : name !== undefined
            ? named(name, expression.slice(to, to + 1))
            : "operator";
    found.push({ from, to, word });
  }
  return found;
}

function named(name: string, next: string): Word {
  if (KEYWORDS.has(name)) return "keyword";
  if (next === "(") return /^[A-Z]/.test(name) ? "converter" : "function";
  return /^[A-Z][A-Z0-9_]+$/.test(name) ? "enum" : "path";
}
