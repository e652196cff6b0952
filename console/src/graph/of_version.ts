// The graph of a stored version, as the collector resolves it.
import { shown } from "../editor/problems";
import { question } from "../editor/question";
import type { Api } from "../lib/api";
import type { Check, Version } from "../lib/types";
import type { GraphPanel } from "./panel";

/** Draws it, and gives the version with what the check found. */
export async function drawVersion(
  api: Api,
  panel: GraphPanel,
  configuration: string,
  n: number,
): Promise<{ version: Version; check: Check }> {
  const version = await api.get<Version>(`/configurations/${configuration}/versions/${n}`);
  const check = (await api.request<Check>("POST", "/validate?graph=true", { body: question(version) })).body;
  panel.show(check.graph, shown(check));
  return { version, check };
}
