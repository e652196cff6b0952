// The sample of a run or of a comparison: typed, or taken from a file, a test, a flow, an earlier run or a capture.
import type { Api, List } from "../lib/api";
import { h } from "../lib/dom";
import { field, mark, type Notice, options } from "../lib/ui";
import type { FlowDetail } from "../lib/shapes";
import type { Listed, NamedTest, RuleIn, Run } from "./types";

/** What came along with a sample. */
export interface Taken {
  pipeline: string;
  rules: RuleIn[];
  seconds: number | null;
}

const MOST_BYTES = 900_000;
const MOST_RUNS = 30;
const CAPTURE = /^\/fleets\/flt_[0-9a-z]{26}\/captures\/[a-z0-9_]{1,40}\/sample$/;
const RUN = /^run_[0-9a-z]{26}$/;

export class Samples {
  readonly element: HTMLElement;
  private readonly text = h("textarea", { id: "sample", rows: 10, required: true, spellcheck: "false" });
  private readonly file = h("input", { id: "file", type: "file" });
  private readonly tests = h("select", { id: "from-test" }, ...options([["", "None"]], ""));
  private readonly flows = h("select", { id: "from-flow" }, ...options([["", "None"]], ""));
  private readonly runs = h("select", { id: "from-run" }, ...options([["", "None"]], ""));

  constructor(
    private readonly api: Api,
    private readonly of: { configuration: string; version: number; signal: () => string },
    private readonly notice: Notice,
    private readonly taken: (taken: Taken) => void,
  ) {
    this.file.addEventListener("change", () => void this.fromFile());
    this.choosing(this.tests, (name) => this.fromTest(name));
    this.choosing(this.flows, (slug) => this.fromFlow(slug));
    this.choosing(this.runs, (id) => this.fromRun(id));
    this.element = h(
      "div",
      {},
      field("Sample", this.text, "OTLP/JSON, or for logs lines of text as a file would have them"),
      h("div", { class: "two" }, field("From a file", this.file), field("From a test of this version", this.tests)),
      h("div", { class: "two" }, field("From a flow", this.flows), field("From an earlier run", this.runs)),
    );
  }

  get value(): string {
    return this.text.value;
  }

  /** Fills the choices, and takes what the page's address names: `run`, `flow`, or a capture as `sample`. */
  async begin(): Promise<void> {
    const wanted = new URLSearchParams(location.search);
    const [run, flow, capture] = ["run", "flow", "sample"].map((name) => wanted.get(name) ?? "");
    await this.telling(async () => {
      if (run && RUN.test(run)) await this.fromRun(run);
      else if (flow) await this.fromFlow(flow);
      else if (capture && CAPTURE.test(capture)) this.take(await this.api.get<string>(capture));
    });
    const { configuration, version } = this.of;
    await Promise.all([
      this.fill(this.tests, async () => {
        const { items } = await this.api.get<List<Listed>>(
          `/configurations/${configuration}/versions/${version}/tests`,
        );
        return items.map(({ name }) => [name, name]);
      }),
      this.fill(this.flows, async () => {
        const flows = await this.api.all<{ slug: string; name: string }>("/flows");
        return flows.map(({ slug, name }) => [slug, name]);
      }),
      this.fill(this.runs, async () => {
        const { items } = await this.api.get<List<Run>>(
          `/testing/runs?configuration_id=${configuration}&limit=${MOST_RUNS}`,
        );
        return items.map(({ id, target_pipeline, status, created_at }) => [
          id,
          `${new Date(created_at).toLocaleString()}, ${target_pipeline}, ${status}`,
        ]);
      }),
    ]);
  }

  private choosing(select: HTMLSelectElement, take: (value: string) => Promise<void>): void {
    select.addEventListener("change", () => void (select.value && this.telling(() => take(select.value))));
  }

  private async fill(select: HTMLSelectElement, read: () => Promise<[string, string][]>): Promise<void> {
    await this.telling(async () => select.append(...options(await read(), "")));
  }

  private async telling(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.notice.failed(error);
    }
  }

  private take(text: string, along: Partial<Taken> = {}): void {
    this.text.value = text;
    mark("sample", "");
    this.taken({ pipeline: "", rules: [], seconds: null, ...along });
  }

  private async fromTest(name: string): Promise<void> {
    const { configuration, version } = this.of;
    const path = `/configurations/${configuration}/versions/${version}/tests/${encodeURIComponent(name)}`;
    const test = await this.api.get<NamedTest>(path);
    this.take(test.sample, { pipeline: test.target_pipeline, rules: test.rules, seconds: test.duration_seconds });
  }

  private async fromFlow(slug: string): Promise<void> {
    const { tests } = await this.api.get<FlowDetail>(`/flows/${encodeURIComponent(slug)}`);
    const test = tests.find(({ signal_type }) => signal_type === this.of.signal()) ?? tests[0];
    if (!test) mark("from-flow", "This flow has no sample");
    // Its rules are of its own pipelines, which a configuration that was made of it has, too.
    else this.take(test.sample, { pipeline: test.target_pipeline });
  }

  private async fromRun(id: string): Promise<void> {
    const run = await this.api.get<Run>(`/testing/runs/${id}`);
    const along = { pipeline: run.target_pipeline, rules: run.validation_results ?? [], seconds: run.duration_seconds };
    this.take(await this.api.get<string>(`/testing/runs/${id}/sample`), along);
  }

  private async fromFile(): Promise<void> {
    const chosen = this.file.files?.[0];
    mark("file", "");
    if (!chosen) return;
    if (chosen.size > MOST_BYTES) mark("file", "The file is over 900 KB, which is more than a sample may have");
    else this.take(await chosen.text());
  }
}
