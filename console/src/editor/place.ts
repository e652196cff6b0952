// Where a place of a text is in the configuration, by indentation alone: it has to be known while the text is not YAML.
// Text in flow style (`{a: b}`) has no places inside.
import type { Lines } from "./lines";

/** `path` has keys, and `[]` for an entry of a list; it ends with the mapping or list that the place is in. */
export interface Place {
  path: string[];
  /** The key of the line, if the line has one. */
  key: string | null;
  /** Where the text of the key or the value begins that the place is in. */
  from: number;
  /** Whether the place is in a key (or where one may begin), and not in a value. */
  inKey: boolean;
}

interface Level {
  indent: number;
  key: string | null;
}

interface Parsed {
  levels: Level[];
  /** Where the key and the value begin. */
  keyAt: number;
  valueAt: number | null;
}

export const ITEM = "[]";
// A key further up than this is not looked for: a hostile text must not make a keystroke slow.
const MOST_LINES = 20_000;
const MOST_DASHES = 64;
// No two parts of it match the same text, so that its time grows with the text's length only.
const KEY =
  /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|(?:[^\s"'#[\]{},&*!|>%@`-]|-[^\s#])(?:[^\s#:]|:(?=\S)|\s+(?=[^\s#:]|:\S))*)\s*:(?=\s|$)/;

export function placeAt(lines: Lines, line: number, column: number): Place {
  const text = lines.text(line);
  const before = text.slice(0, column);
  const parsed = parse(text);
  const isBlank = before.trim() === "";
  const own = isBlank ? { levels: [], keyAt: column, valueAt: null } : parsed;
  const last = own.levels.at(-1);
  const hasKey = last?.key != null;
  const inKey = own.valueAt === null || column < own.valueAt;
  const indent = isBlank ? column : hasKey ? last.indent : own.keyAt;
  const path: string[] = [];
  const limit = { indent, ofItem: false };
  const inner = hasKey ? own.levels.slice(0, -1) : own.levels;
  climb(inner, path, limit);
  for (let at = line - 1; at >= 1 && line - at < MOST_LINES && (limit.indent > 0 || limit.ofItem); at -= 1) {
    const above = lines.text(at);
    if (/^\s*(#|$)/.test(above)) continue;
    climb(parse(above).levels, path, limit);
  }
  path.reverse();
  if (!inKey && hasKey && last.key !== null) path.push(last.key);
  return { path, key: last?.key ?? null, from: inKey ? own.keyAt : (own.valueAt ?? own.keyAt), inKey };
}

/** Adds the levels of a line that contain what is at the limit, the innermost first. */
function climb(levels: Level[], path: string[], limit: { indent: number; ofItem: boolean }): void {
  for (const level of [...levels].reverse()) {
    const isItem = level.key === null;
    // The entries of a list may stand as far left as its key.
    const contains = level.indent < limit.indent || (level.indent === limit.indent && limit.ofItem && !isItem);
    if (!contains) continue;
    path.push(isItem ? ITEM : (level.key ?? ""));
    limit.indent = level.indent;
    limit.ofItem = isItem;
  }
}

/** The dashes and the key with which a line begins. */
export function parse(text: string): Parsed {
  const levels: Level[] = [];
  let at = text.length - text.trimStart().length;
  while (text[at] === "-" && (at + 1 === text.length || text[at + 1] === " ") && levels.length < MOST_DASHES) {
    levels.push({ indent: at, key: null });
    at += 1;
    while (text[at] === " ") at += 1;
  }
  const found = KEY.exec(text.slice(at, at + 1_000));
  if (!found?.[1]) return { levels, keyAt: at, valueAt: null };
  levels.push({ indent: at, key: unquoted(found[1]) });
  const after = at + found[0].length;
  const value = text.slice(after);
  return { levels, keyAt: at, valueAt: after + (value.length - value.trimStart().length) };
}

function unquoted(key: string): string {
  return /^(["']).*\1$/.test(key) ? key.slice(1, -1) : key;
}

export interface Entry {
  section: string;
  id: string;
  line: number;
}

const SECTIONS = new Set(["receivers", "processors", "exporters", "connectors", "extensions"]);
const MOST_ENTRIES = 5_000;

/** The components and pipelines of a text, in its order. */
export function outline(lines: Lines): Entry[] {
  const found: Entry[] = [];
  let section = "";
  let indent = 0;
  let inPipelines = false;
  for (let line = 1; line <= lines.count && found.length < MOST_ENTRIES; line += 1) {
    const text = lines.text(line);
    if (!/\S/.test(text) || /^\s*#/.test(text)) continue;
    const level = parse(text).levels[0];
    if (level?.key == null) continue;
    if (level.indent === 0) {
      section = level.key;
      indent = 0;
      inPipelines = false;
      continue;
    }
    if (section === "service" && level.key === "pipelines" && (indent === 0 || level.indent <= indent)) {
      inPipelines = true;
      indent = 0;
      continue;
    }
    if (!SECTIONS.has(section) && !inPipelines) {
      if (indent === 0) indent = level.indent;
      continue;
    }
    if (indent === 0) indent = level.indent;
    if (level.indent === indent) found.push({ section: inPipelines ? "pipelines" : section, id: level.key, line });
    else if (level.indent < indent && inPipelines) inPipelines = false;
  }
  return found;
}
