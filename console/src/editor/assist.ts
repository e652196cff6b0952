// Completion and help at a place, from the reference of the collector's build.
import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  snippetCompletion,
} from "@codemirror/autocomplete";
import type { EditorState, Text } from "@codemirror/state";
import type { EditorView, Tooltip } from "@codemirror/view";
import { h } from "../lib/dom";
import type { Field, OttlReference } from "../lib/types";
import type { Lines } from "./lines";
import { type Expression, expressionAt } from "./expressions";
import { type Typed, typedAt } from "./ottl_typed";
import { ITEM, outline, type Place, placeAt } from "./place";
import { type Reference, SECTIONS, typeOf } from "./reference";

const SIGNALS = ["logs", "metrics", "traces", "profiles"];
const KEYWORDS = ["where", "and", "or", "not", "nil", "true", "false"];
const WORD = /(?<![\w./-])[\w./-]*$/;

export function documentLines(doc: Text): Lines {
  return { count: doc.lines, text: (line) => doc.line(line).text };
}

export function assist(reference: () => Reference) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const { state, pos } = context;
    const line = state.doc.lineAt(pos);
    const before = line.text.slice(0, pos - line.from);
    const typed = WORD.exec(before)?.[0] ?? "";
    if (!context.explicit && typed === "") return null;
    const placeOf = (): Place => placeAt(documentLines(state.doc), line.number, pos - line.from);
    const statement = typedAt(state, pos);
    if (statement) {
      const result = await inOttl(reference(), statement, pos);
      // The first word of a list's entry may be a key as well: a group of statements with a context.
      const keys =
        /^\w*$/.test(statement.before) && !/["'|>]/.test(before) ? await optionsAt(reference(), placeOf(), state) : [];
      return result && { ...result, options: [...result.options, ...keys] };
    }
    const expression = expressionAt(state, pos);
    if (expression) return inOttl(reference(), ofLint(expression, before), pos);
    const options = await optionsAt(reference(), placeOf(), state);
    return options.length ? { from: pos - typed.length, options, validFor: /^[\w./-]*$/ } : null;
  };
}

async function optionsAt(reference: Reference, { path, inKey }: Place, state: EditorState): Promise<Completion[]> {
  const [section, id, ...rest] = path;
  if (section === undefined)
    return inKey ? SECTIONS.map((name) => ({ label: name, apply: `${name}:`, type: "keyword" })) : [];
  if (section === "service") return inService(path, state);
  if (id === undefined) {
    const components = inKey ? await reference.components(section) : [];
    return components.map(({ type, summary, deprecated }) => ({
      label: type,
      apply: `${type}:`,
      type: "class",
      info: summary,
      ...(deprecated && { detail: "deprecated", boost: -10 }),
    }));
  }
  const known = await reference.component(section, id);
  if (!known) return [];
  const inList = rest.at(-1) === ITEM;
  if (inKey && !(inList && known.fields.below(rest).size === 0))
    return [...known.fields.below(rest)].map(([name, field]) => ({
      label: name,
      apply: keyOf(name, field),
      type: "property",
      detail: field.type,
      info: () => describe(field),
      boost: field.deprecated ? -10 : 0,
    }));
  const field = known.fields.get(inList ? rest.slice(0, -1) : rest);
  if (!field) return [];
  const values = field.values.length ? field.values : field.type === "boolean" ? ["true", "false"] : [];
  return values.map((value) => ({ label: value, type: "enum" }));
}

function keyOf(name: string, { type }: Field): string {
  return type === "object" || type.startsWith("list") || type.startsWith("map") ? `${name}:` : `${name}: `;
}

function inService(path: string[], state: EditorState): Completion[] {
  const [, first, pipeline, list] = path;
  const labels = (names: string[]): Completion[] =>
    names.map((label) => ({ label, type: "keyword", apply: `${label}:` }));
  if (first === undefined) return labels(["extensions", "pipelines", "telemetry"]);
  const entries = outline(documentLines(state.doc));
  const ids = (...sections: string[]): Completion[] =>
    entries
      .filter(({ section }) => sections.includes(section))
      .map(({ id, section }) => ({ label: id, type: "class", detail: section }));
  if (first === "extensions") return ids("extensions");
  if (first !== "pipelines") return [];
  if (pipeline === undefined) return labels(SIGNALS);
  if (list === undefined) return labels(["receivers", "processors", "exporters"]);
  return ids(list, ...(list === "processors" ? [] : ["connectors"]));
}

function ofLint({ component, context }: Expression, before: string): Typed {
  return { field: { component, kind: "condition", contexts: [context] }, contexts: [context], isGiven: true, before };
}

async function inOttl(
  reference: Reference,
  { field, contexts, isGiven, before }: Typed,
  pos: number,
): Promise<CompletionResult | null> {
  const word = /(?<![\w.])[\w.]*$/.exec(before)?.[0] ?? "";
  // Within a text of its own, nothing is a name.
  if (before.replaceAll('\\"', "").split('"').length % 2 === 0) return null;
  const begins = field.kind === "statement" && before === word;
  const known = (await Promise.all(contexts.map((context) => reference.ottl(field.component, context)))).map(
    (one, at) => ({ one, context: contexts[at] ?? "" }),
  );
  const options = new Map<string, Completion>();
  for (const { one, context } of known) {
    if (!one) continue;
    for (const named of one.functions)
      if ((named.kind === "editor") === begins && (!named.in || named.in.includes(field.kind)))
        options.set(named.name, called(named));
    if (begins) continue;
    for (const { path, type, description } of one.paths)
      for (const label of isGiven && !field.inferred
        ? [path]
        : isGiven
          ? [path, `${context}.${path}`]
          : [`${context}.${path}`])
        if (!options.has(label)) options.set(label, { label, type: "variable", detail: type, info: description });
    for (const { name, description } of one.enums)
      if (!options.has(name)) options.set(name, { label: name, type: "enum", info: description });
  }
  if (!begins)
    for (const label of KEYWORDS)
      if (
        label !== "where" ||
        (field.kind === "statement" &&
          before
            .slice(0, -word.length || undefined)
            .trimEnd()
            .endsWith(")"))
      )
        options.set(label, { label, type: "keyword", boost: -10 });
  if (options.size === 0) return null;
  return { from: pos - word.length, options: [...options.values()], validFor: /^[\w.]*$/ };
}

/** A function with places for what it needs; Tab goes from one to the next. */
function called({ name, signature, description, parameters }: OttlReference["functions"][number]): Completion {
  const needed = (parameters ?? []).filter(({ optional }) => !optional);
  const places = needed.map((parameter) => `\${${parameter.name}}`).join(", ");
  return snippetCompletion(`${name}(${places})`, {
    label: name,
    type: "function",
    detail: signature,
    info: description,
  });
}

/** Help about what is under the pointer, or at the cursor. */
export function help(reference: () => Reference) {
  return async (view: EditorView, pos: number): Promise<Tooltip | null> => {
    const { state } = view;
    const line = state.doc.lineAt(pos);
    const content = expressionAt(state, pos)
      ? await ofWord(reference(), state, pos)
      : await ofKey(reference(), placeAt(documentLines(state.doc), line.number, pos - line.from));
    return content && { pos, above: true, create: () => ({ dom: content }) };
  };
}

async function ofKey(reference: Reference, { path, key, inKey }: Place): Promise<HTMLElement | null> {
  if (!inKey || key === null) return null;
  const [section, id, ...rest] = [...path, key];
  if (section === undefined || id === undefined || section === "service") return null;
  const known = await reference.component(section, id);
  if (!known) return null;
  if (rest.length === 0)
    return card(
      typeOf(id),
      known.detail.deprecated ? `deprecated: ${known.detail.deprecated}` : "",
      known.detail.description,
    );
  const field = known.fields.get(rest);
  return field && describe(field);
}

async function ofWord(reference: Reference, state: EditorState, pos: number): Promise<HTMLElement | null> {
  const expression = expressionAt(state, pos);
  const line = state.doc.lineAt(pos);
  const at = pos - line.from;
  const word = `${/(?<![\w.])[\w.]*$/.exec(line.text.slice(0, at))?.[0] ?? ""}${/^[\w.]*/.exec(line.text.slice(at))?.[0] ?? ""}`;
  if (!expression || word === "") return null;
  const known = await reference.ottl(expression.component, expression.context);
  const named = known?.functions.find(({ name }) => name === word);
  if (named) return card(named.signature, named.kind, named.description);
  const plain = word.replace(`${expression.context}.`, "");
  const path = known?.paths.find((one) => one.path === plain || plain.startsWith(`${one.path}.`));
  if (path) return card(path.path, path.writable ? path.type : `${path.type}, read only`, path.description);
  const value = known?.enums.find(({ name }) => name === word);
  return value ? card(value.name, String(value.value), value.description) : null;
}

function describe(field: Field): HTMLElement {
  const about = [
    field.type,
    field.default === null ? "" : `default ${field.default}`,
    field.deprecated ? "deprecated" : "",
  ]
    .filter(Boolean)
    .join(" · ");
  return card(field.path, about, field.description, field.values.length ? `One of ${field.values.join(", ")}` : "");
}

function card(title: string, about: string, text: string, more = ""): HTMLElement {
  return h(
    "div",
    { class: "help" },
    h("strong", {}, title),
    about && h("span", { class: "about" }, about),
    text && h("p", {}, text),
    more && h("p", {}, more),
  );
}
