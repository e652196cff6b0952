// No regular expression takes a text longer than in proportion to its length: a page stands still while one runs.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

// Those that are put together when they are used, as they stand in the source, with one of them.
const BUILT: Record<string, RegExp> = {
  'new RegExp(`(^|[\\\\s,[\\\\]"\'-])${id.replace(/[^\\w]/g, "\\\\$&")}($|[\\\\s,[\\\\]"\'#])`)':
    /(^|[\s,[\]"'-])a\/b($|[\s,[\]"'#])/,
};
const SIZES = [12, 20, 28, 40, 60, 100, 200, 400, 2_000, 5_000, 16_000];
const BEFORE_PATTERN = /(?:[(,=:[!&|?{};\n]|=>|\breturn)$/;

/** The regular expressions in a module's source, by reading its comments, texts and templates. */
export function patternsIn(source: string): RegExp[] {
  const patterns: RegExp[] = [];
  const braces: number[] = [];
  let before = "\n";
  let at = 0;
  const through = (end: number): void => {
    at = end;
    before = '"';
  };
  while (at < source.length) {
    const next = source[at] ?? "";
    if (source.startsWith("//", at)) {
      at = source.indexOf("\n", at);
      if (at < 0) break;
    } else if (source.startsWith("/*", at)) {
      at = source.indexOf("*/", at) + 2;
    } else if (next === '"' || next === "'") {
      through(closing(source, at + 1, (text, place) => text[place] === next));
    } else if (next === "`" || (next === "}" && braces.at(-1) === 0)) {
      if (next === "}") braces.pop();
      through(closing(source, at + 1, (text, place) => text[place] === "`" || text.startsWith("${", place)));
      if (source[at - 1] === "$") {
        braces.push(0);
        at += 1;
        before = "(";
      }
    } else if (next === "/" && BEFORE_PATTERN.test(before)) {
      let inClass = false;
      const end = closing(source, at + 1, (text, place) => {
        if (text[place] === "[") inClass = true;
        if (text[place] === "]") inClass = false;
        return text[place] === "/" && !inClass;
      });
      const flags = /^[a-z]*/.exec(source.slice(end, end + 8))?.[0] ?? "";
      patterns.push(new RegExp(source.slice(at + 1, end - 1), flags.replace(/[gy]/g, "")));
      through(end + flags.length);
    } else {
      if (next === "{" && braces.length > 0) braces.push((braces.pop() ?? 0) + 1);
      if (next === "}" && braces.length > 0) braces.push((braces.pop() ?? 1) - 1);
      at += 1;
      if (next.trim() !== "" || next === "\n") before = (before + next).slice(-8);
    }
  }
  return patterns;
}

function closing(source: string, from: number, ends: (text: string, place: number) => boolean): number {
  for (let place = from; place < source.length; place += 1) {
    if (source[place] === "\\") place += 1;
    else if (ends(source, place)) return place + 1;
  }
  throw new Error(`not closed: ${source.slice(from, from + 40)}`);
}

/** Texts of so many characters that a pattern may be slow with: what it names, again and again, and then another end. */
function attacks(pattern: RegExp): ((size: number) => string)[] {
  const named = [...new Set(["a", " ", "\n", ...pattern.source.replace(/\\[a-zA-Z]/g, "")])].slice(0, 16);
  const again = [...named, ...named.flatMap((one) => ["a", " ", "\\"].map((other) => one + other)), "[]"];
  return again.flatMap((pump) =>
    ["", "a", '"', "'", "-a"].flatMap((start) =>
      ["", "\0", '"'].map((end) => (size: number) => start + pump.repeat(Math.ceil(size / pump.length)) + end),
    ),
  );
}

function seconds(pattern: RegExp, text: string): number {
  const began = process.cpuUsage();
  pattern.test(text);
  const took = process.cpuUsage(began);
  return (took.user + took.system) / 1e6;
}

/** How many times longer a text of four times the length takes; 0 if none takes long. */
export function growth(pattern: RegExp): number {
  for (const attack of attacks(pattern)) {
    for (const size of SIZES) {
      if (seconds(pattern, attack(size)) < 0.015) continue;
      const best = (length: number): number => Math.min(...[1, 2, 3].map(() => seconds(pattern, attack(length))));
      const ratio = best(size) / Math.max(best(size / 4), 1e-5);
      if (best(size) >= 0.015 && ratio > 9) return ratio;
    }
  }
  return 0;
}

test("no pattern of the pages grows faster than its text", () => {
  const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"),
  );
  const sources = files.map((name) => readFileSync(path.join("src", name), "utf8"));
  const built = sources.flatMap((source) => source.match(/new RegExp\(.*\)/g) ?? []).map((one) => one.trim());
  const patterns = [...sources.flatMap(patternsIn), ...Object.values(BUILT)];

  assert.deepEqual(built, Object.keys(BUILT));
  assert.ok(patterns.length > 15, `only ${patterns.length}`);
  assert.deepEqual(patterns.filter((pattern) => growth(pattern) > 0).map(String), []);
});

test("a pattern that grows faster is noticed", () => {
  for (const slow of [/\s+$/, /(\[\])+$/, /^("[^"]*"|[^#]*?)\s*:(?=\s|$)/]) {
    assert.ok(growth(slow) > 0, String(slow));
  }
});

test("patterns are told from divisions, comments, texts and templates", () => {
  const source = 'const a = b / c / d; // /no/\nconst t = `x${/yes/.source + "}"}/no/`;\nf("/no/", /a[/]b/g, /\\//);';

  assert.deepEqual(patternsIn(source).map(String), ["/yes/", "/a[/]b/", "/\\//"]);
});
