// What components complained of in a run, and the notes on it, which a Success may have as well.
import { h } from "../lib/dom";
import type { Complaints } from "./types";

/** A line for each. */
export function lines({ component_errors, notes }: Complaints): string[] {
  const errors = component_errors.map(({ component, message, count, record }) => {
    const often = count > 1 ? ` (${count} times)` : "";
    const first = typeof record === "number" ? `, the first in record ${record}` : "";
    return `${component}: ${message}${often}${first}`;
  });
  return [...errors, ...notes.map(({ message }) => message)];
}

export function complaints(run: Complaints): HTMLElement {
  const errors = run.component_errors.length;
  return h("ul", {}, ...lines(run).map((line, n) => h("li", n < errors ? { class: "error" } : {}, line)));
}

/** Those of two runs, each with its side; once if both have it. */
export function ofSides(left: Complaints, right: Complaints): string[] {
  const [of, other] = [lines(left), lines(right)];
  return [
    ...of.filter((line) => other.includes(line)).map((line) => `both: ${line}`),
    ...of.filter((line) => !other.includes(line)).map((line) => `left: ${line}`),
    ...other.filter((line) => !of.includes(line)).map((line) => `right: ${line}`),
  ];
}
