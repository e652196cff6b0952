// The reference of a collector version, asked for once.
import type { Api } from "../lib/api";
import type { ComponentDetail, ComponentSummary, OttlReference } from "../lib/types";
import { Fields } from "./fields";

export interface Known {
  detail: ComponentDetail;
  fields: Fields;
}

const KINDS = new Map([
  ["receivers", "receiver"],
  ["processors", "processor"],
  ["exporters", "exporter"],
  ["connectors", "connector"],
  ["extensions", "extension"],
]);

export const SECTIONS = [...KINDS.keys(), "service"];

export class Reference {
  private readonly known = new Map<string, Promise<unknown>>();

  constructor(
    private readonly api: Api,
    private readonly version: string,
  ) {}

  /** The components of a section; none for a section that has none, and where the reference cannot be had. */
  async components(section: string): Promise<ComponentSummary[]> {
    const kind = KINDS.get(section);
    if (!kind) return [];
    const found = await this.once(`/components?kind=${kind}&version=${this.version}`, (path) =>
      this.api.all<ComponentSummary>(path),
    );
    return found ?? [];
  }

  async component(section: string, id: string): Promise<Known | null> {
    const kind = KINDS.get(section);
    const type = typeOf(id);
    if (!kind || !/^[a-z][a-z0-9_]{0,62}$/i.test(type)) return null;
    return this.once(`/components/${kind}/${type}?version=${this.version}`, async (path) => {
      const detail = await this.api.get<ComponentDetail>(path);
      return { detail, fields: new Fields(detail.fields) };
    });
  }

  async ottl(component: string, context: string): Promise<OttlReference | null> {
    const query = new URLSearchParams({ component, context, version: this.version });
    return this.once(`/ottl/reference?${query.toString()}`, (path) => this.api.get<OttlReference>(path));
  }

  /** Null if it cannot be had now; the next question asks again. */
  private async once<T>(path: string, ask: (path: string) => Promise<T>): Promise<T | null> {
    let asked = this.known.get(path) as Promise<T> | undefined;
    if (!asked) this.known.set(path, (asked = ask(path)));
    try {
      return await asked;
    } catch {
      this.known.delete(path);
      return null;
    }
  }
}

export function typeOf(id: string): string {
  return (id.split("/")[0] ?? "").trim();
}
