// A run beside the editor: the sample on the left, what each component did with it, and what came out on the right.
import { type Gated, gates } from "../editor/question";
import type { Api } from "../lib/api";
import { h } from "../lib/dom";
import { across, button, messageOf, options } from "../lib/ui";
import type { UnsavedTexts } from "../lib/unsaved";
import { complaints } from "./complaints";
import { followed } from "./results";
import { stepThrough } from "./steps";
import type { Run, Steps } from "./types";

const SIGNALS = ["logs", "metrics", "traces"];
const SECONDS = 1;
// After the last key, where a run costs nothing.
const PAUSE = 2_000;

export interface Subject extends Gated {
  yaml: string;
  collector_version: string;
  /** Whether the collector accepts the text as it is now. */
  isValid: boolean;
}

export class Beside {
  readonly element: HTMLElement;
  private readonly pipeline = h("select", { id: "run-pipeline", "aria-label": "Pipeline to run" });
  private readonly sample = h("textarea", {
    id: "run-sample",
    "aria-label": "Sample",
    rows: 8,
    maxlength: 900_000,
    spellcheck: "false",
    placeholder: "OTLP/JSON, or for logs lines of text",
  });
  private readonly run = button("Run", () => this.start(), { title: "Ctrl-Enter", class: "small" });
  private readonly state = h("div", { role: "status", class: "small" });
  private readonly steps = h("div", {});
  private readonly output = h("div", {});
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isBusy = false;
  /** What was run last, so that the same is not run again by itself. */
  private last = "";

  /** `place` is where this browser stores the sample. `quick`: a run may begin by itself after the last key, as it costs nothing. `textOf` is a line of the text. */
  constructor(
    private readonly api: Api,
    private readonly subject: () => Subject,
    private readonly textOf: (line: number) => string,
    private readonly unsaved: UnsavedTexts,
    private readonly place: string,
    private readonly quick: boolean,
  ) {
    this.sample.value = this.unsaved.get(this.place)?.text ?? "";
    this.sample.addEventListener("input", () => {
      this.unsaved.put(this.place, { text: this.sample.value, base: "", etag: "" });
      this.typed();
    });
    this.pipeline.addEventListener("change", () => this.typed());
    const when = quick ? "Ctrl-Enter runs it, and so do two seconds without a key." : "Ctrl-Enter runs it.";
    this.element = h(
      "div",
      { class: "beside" },
      h(
        "div",
        { class: "toolbar" },
        this.pipeline,
        this.run,
        across(() => this.element),
        h("span", { class: "soft small" }, when),
      ),
      this.state,
      h(
        "div",
        { class: "parts" },
        h("section", {}, h("h3", {}, "Sample"), this.sample),
        h("section", {}, h("h3", {}, "By component"), this.steps),
        h("section", {}, h("h3", {}, "Output"), this.output),
      ),
    );
  }

  /** The pipelines of the text that was checked. */
  set pipelines(ids: string[]) {
    const chosen = ids.includes(this.pipeline.value) ? this.pipeline.value : (ids[0] ?? "");
    this.pipeline.replaceChildren(
      ...options(
        ids.map((id): [string, string] => [id, id]),
        chosen,
      ),
    );
  }

  /** Something was typed, in the text or in the sample. */
  typed(): void {
    clearTimeout(this.timer);
    if (!this.quick) return;
    this.timer = setTimeout(() => {
      const isSeen = this.element.offsetParent !== null;
      if (isSeen && this.sample.value.trim() && this.subject().isValid && this.key() !== this.last) void this.start();
    }, PAUSE);
  }

  /** Runs the text as it is now, saved or not. */
  async start(): Promise<void> {
    clearTimeout(this.timer);
    if (this.isBusy) return;
    const [sample, pipeline] = [this.sample.value, this.pipeline.value];
    if (!sample.trim() || !pipeline) {
      this.state.textContent = pipeline ? "Type or paste a sample first." : "The text has no pipeline to run.";
      this.sample.focus();
      return;
    }
    this.last = this.key();
    this.isBusy = this.run.disabled = true;
    try {
      await this.carryOut(sample, pipeline);
    } catch (error) {
      this.state.replaceChildren(h("p", { class: "error" }, messageOf(error)));
    } finally {
      this.isBusy = this.run.disabled = false;
    }
  }

  private async carryOut(sample: string, pipeline: string): Promise<void> {
    const { yaml, collector_version, ...gated } = this.subject();
    const signal = pipeline.split("/")[0]?.trim() ?? "";
    const body = {
      yaml,
      collector_version,
      ...gates(gated),
      sample,
      signal_type: SIGNALS.includes(signal) ? signal : "logs",
      target_pipeline: pipeline,
      duration_seconds: SECONDS,
      trace: true,
    };
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    const { body: begun } = await this.api.request<Run>("POST", "/testing/runs", { body, headers });
    const run = await followed(this.api, begun, SECONDS, this.state);
    const kind = run.status === "Success" ? "good" : "bad";
    this.state.replaceChildren(
      h("span", { class: `tag ${kind}` }, run.status),
      run.component_errors.length + run.notes.length > 0 ? complaints(run) : "",
    );
    if (run.status === "Error") {
      this.steps.replaceChildren(
        h("pre", { class: "wrapped", tabindex: 0, "aria-label": "Standard error" }, run.stderr),
      );
      this.output.replaceChildren();
      return;
    }
    const [steps, output] = await Promise.all([
      this.api.get<Steps>(`/testing/runs/${run.id}/steps`),
      this.api.get<string>(`/testing/runs/${run.id}/output`),
    ]);
    this.steps.replaceChildren(stepThrough(this.api, run.id, steps, this.textOf));
    this.output.replaceChildren(h("pre", { class: "wrapped", tabindex: 0, "aria-label": "Output" }, indented(output)));
  }

  private key(): string {
    const { yaml, collector_version, feature_gates } = this.subject();
    return JSON.stringify([yaml, collector_version, feature_gates, this.sample.value, this.pipeline.value]);
  }
}

/** Each line of OTLP/JSON over several lines; what is not JSON stays as it is. */
function indented(output: string): string {
  const lines = output.split("\n").map((line) => {
    try {
      return JSON.stringify(JSON.parse(line), null, 1);
    } catch {
      return line;
    }
  });
  return lines.join("\n").trim() || "Nothing came out.";
}
