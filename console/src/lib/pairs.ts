// `NAME=value` as people type it.

/** The values by their names, of texts that `between` separates. A value may have `=` in it. */
export function pairs(text: string, between: RegExp): Record<string, string> {
  const named = text
    .split(between)
    .map((one) => one.trim())
    .filter(Boolean);
  return Object.fromEntries(
    named.map((one) => [one.split("=")[0]?.trim() ?? "", one.split("=").slice(1).join("=").trim()]),
  );
}
