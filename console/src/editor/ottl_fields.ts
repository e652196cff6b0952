// The settings that hold OTTL, and the contexts in which each is read: for a statement that is being typed, of which no
// linter has said anything yet. The language server has the same table; one list of places tests both.
import { ITEM } from "./place";
import { typeOf } from "./reference";

export type Kind = "statement" | "condition" | "value_expression";

/** `contexts` may apply; with `chosenBy`, the key of that name beside the expression says which. `inferred`: by its paths. */
export interface OttlField {
  component: string;
  kind: Kind;
  contexts: string[];
  chosenBy?: "context";
  inferred?: true;
}

const OF_SIGNAL: Record<string, string[]> = {
  trace: ["span", "spanevent", "scope", "resource"],
  metric: ["datapoint", "metric", "scope", "resource"],
  log: ["log", "scope", "resource"],
  profile: ["profile", "scope", "resource"],
};
const OF_FILTER: Record<string, string> = {
  resource: "resource",
  span: "span",
  spanevent: "spanevent",
  metric: "metric",
  datapoint: "datapoint",
  log_record: "log",
  profile: "profile",
};
const COUNTED: Record<string, string> = {
  spans: "span",
  spanevents: "spanevent",
  metrics: "metric",
  datapoints: "datapoint",
  logs: "log",
  profiles: "profile",
};
const INSTRUMENTS = ["histogram", "exponential_histogram", "sum", "gauge"];

/** The setting at a path of a configuration, null if it does not hold OTTL. */
export function fieldAt(path: string[]): OttlField | null {
  const [section = "", id = "", ...pattern] = path;
  const component = typeOf(id);
  const [first = "", second = "", third = "", fourth = ""] = pattern;
  const ends = pattern.slice(1).join("/");
  const counted = COUNTED[first];
  switch (`${section}/${component}`) {
    case "processors/transform":
      return ofLists(component, first, ends, "_statements");
    case "processors/filter":
      return ofLists(component, first, ends, "_conditions") ?? ofFilter(component, pattern);
    case "processors/logdedup":
    case "processors/log_dedup":
      return first === "conditions" && ends === ITEM ? { component, kind: "condition", contexts: ["log"] } : null;
    case "processors/tail_sampling": {
      const [holder, context = "", item] = pattern.slice(-3);
      const isOttl = first === "policies" && pattern.length > 4 && holder === "ottl_condition" && item === ITEM;
      return isOttl && ["span", "spanevent"].includes(context)
        ? { component, kind: "condition", contexts: [context] }
        : null;
    }
    case "connectors/count":
    case "connectors/sum":
      return counted && third === "conditions" && fourth === ITEM && pattern.length === 4
        ? { component, kind: "condition", contexts: [counted] }
        : null;
    case "connectors/routing": {
      if (first !== "table" || second !== ITEM || pattern.length !== 3) return null;
      if (third !== "condition" && third !== "statement") return null;
      const contexts = ["resource", "span", "metric", "datapoint", "log"];
      return { component, kind: third, contexts, chosenBy: "context" };
    }
    case "connectors/signaltometrics":
    case "connectors/signal_to_metrics":
      if (!counted || second !== ITEM || pattern.length !== 4) return null;
      if (third === "conditions" && fourth === ITEM) return { component, kind: "condition", contexts: [counted] };
      return INSTRUMENTS.includes(third) && ["value", "count"].includes(fourth)
        ? { component, kind: "value_expression", contexts: [counted] }
        : null;
    case "exporters/honeycombmarker":
      return pattern.join("/") === `markers/${ITEM}/rules/log_conditions/${ITEM}`
        ? { component, kind: "condition", contexts: ["log"] }
        : null;
  }
  return null;
}

/** `log_statements`: a list of expressions, or of groups with a context. */
function ofLists(component: string, first: string, ends: string, suffix: string): OttlField | null {
  const contexts = first.endsWith(suffix) ? OF_SIGNAL[first.slice(0, -suffix.length)] : undefined;
  if (!contexts) return null;
  const kind = suffix === "_statements" ? "statement" : "condition";
  if (ends === ITEM) return { component, kind, contexts, inferred: true };
  if (ends === `${ITEM}/statements/${ITEM}` && kind === "statement")
    return { component, kind, contexts, chosenBy: "context", inferred: true };
  if (ends === `${ITEM}/conditions/${ITEM}`)
    return { component, kind: "condition", contexts, chosenBy: "context", inferred: true };
  return null;
}

function ofFilter(component: string, [signal = "", kind = "", item, ...more]: string[]): OttlField | null {
  const context = OF_FILTER[kind];
  const isSignal = ["traces", "metrics", "logs", "profiles"].includes(signal);
  return isSignal && context && item === ITEM && more.length === 0
    ? { component, kind: "condition", contexts: [context] }
    : null;
}
