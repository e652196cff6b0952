// What checks of a version ask about: its text as its hosts run it.
import type { Version } from "../lib/types";

export type Gated = Pick<Version, "feature_gates">;

/** The feature gates of a question, without which it is asked of a collector that is running already. */
export function gates({ feature_gates }: Gated): Gated {
  return feature_gates?.length ? { feature_gates } : {};
}

/** A text on the version's collector with its feature gates. */
export function question(version: Gated & Pick<Version, "yaml" | "collector_version">): Record<string, unknown> {
  return { yaml: version.yaml, version: version.collector_version, ...gates(version) };
}
