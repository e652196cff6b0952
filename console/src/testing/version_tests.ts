// The tests of a version: their list, all of them run, and what they would not notice.
import { type Api, ApiError } from "../lib/api";
import { h } from "../lib/dom";
import { poll } from "../lib/poll";
import { button, Notice } from "../lib/ui";
import { MEANING } from "../editor/marks";
import { ruleResults } from "./results";
import type { CoverageResult, Job, Mutant, SuiteResult, VersionTests } from "./types";

const STATUS = { Success: "✓ passed", Fail: "✕ failed", Error: "✕ error" };
const ORDER: Mutant["outcome"][] = ["survived", "unreached", "killed"];
const MOST = 100;

export interface Of {
  configuration: string;
  n: number;
  /** Where the page is on which a test is made. */
  run: string;
  /** Whether the text as it is now is the version's. */
  isSaved: boolean;
}

export class Tests {
  readonly element = h("div", {});
  private readonly notice = new Notice();
  private readonly list = h("div", {});
  private readonly results = h("div", { "aria-live": "polite" });
  private readonly buttons: HTMLButtonElement[];

  constructor(
    private readonly api: Api,
    private readonly of: () => Of,
    private readonly listed: (tests: VersionTests) => void,
    private readonly covered: (mutants: Mutant[]) => void,
    private readonly goTo: (line: number, column: number) => void,
  ) {
    this.buttons = [
      button("Run all", () => this.act(() => this.suite()), { class: "plain small" }),
      button("Show coverage", () => this.act(() => this.coverage()), { class: "plain small" }),
    ];
    this.element.append(this.notice.element, this.list, this.results);
  }

  /** Reads the list again: of another version, or after a test was saved. */
  async read(): Promise<void> {
    const { configuration, n, run } = this.of();
    try {
      const tests = await this.api.get<VersionTests>(`/configurations/${configuration}/versions/${n}/tests`);
      this.listed(tests);
      const last = tests.evidence.find(({ current }) => current);
      const status = (name: string): string => last?.tests.find((one) => one.name === name)?.status ?? "";
      this.list.replaceChildren(
        tests.items.length
          ? h(
              "ul",
              { class: "names" },
              ...tests.items.map(({ name, target_pipeline, rule_count, expects_output }) =>
                h(
                  "li",
                  {},
                  h("strong", {}, name),
                  h(
                    "span",
                    { class: "soft small" },
                    ` pipeline ${target_pipeline} · ${rule_count} ${rule_count === 1 ? "rule" : "rules"}${expects_output ? " · an output" : ""} · ${known(status(name))}`,
                  ),
                ),
              ),
            )
          : h("p", { class: "soft" }, "This version has no tests yet: run a sample, and save it as a test."),
        h(
          "div",
          { class: "buttons" },
          ...(tests.items.length ? this.buttons : []),
          h("a", { href: run }, "New test …"),
        ),
      );
    } catch (error) {
      this.notice.failed(error);
    }
  }

  private async act(run: () => Promise<HTMLElement[]>): Promise<void> {
    this.notice.tell("");
    if (!this.of().isSaved) {
      this.notice.warn("Save first: the tests run on what is saved.");
      return;
    }
    for (const one of this.buttons) one.disabled = true;
    try {
      this.results.replaceChildren(...(await run()));
    } catch (error) {
      this.results.replaceChildren();
      this.notice.failed(error);
    } finally {
      for (const one of this.buttons) one.disabled = false;
    }
  }

  private async job<Result>(kind: string, isFinal: (status: string) => boolean): Promise<Result> {
    const { configuration, n } = this.of();
    const { body } = await this.api.request<Job<Result>>("POST", `/testing/${kind}`, {
      body: { configuration_id: configuration, version_number: n },
      headers: { "Idempotency-Key": crypto.randomUUID() },
    });
    const told = h("p", {}, body.status);
    this.results.replaceChildren(told, h("progress", { "aria-label": "Tests" }));
    const ended = await poll(
      () => this.api.get<Job<Result>>(`/testing/${kind}/${body.id}`),
      ({ status }) => isFinal(status),
      ({ status }) => {
        told.textContent = status;
      },
    );
    if (ended.result === null) {
      const detail = ended.reason || "The tests did not come to an end; try again";
      throw new ApiError({ status: 0, code: "job_failed", detail });
    }
    return ended.result;
  }

  private async suite(): Promise<HTMLElement[]> {
    const isFinal = (status: string): boolean => ["Success", "Fail", "Error"].includes(status);
    const { passed, tests } = await this.job<SuiteResult>("suites", isFinal);
    await this.read();
    return [
      h(
        "p",
        {},
        h("span", { class: `verdict ${passed ? "good" : "bad"}` }, passed ? "✓ All passed" : "✕ Not all passed"),
      ),
      ...tests.map(({ name, status, reason, validation_results }) =>
        h(
          "section",
          { class: "record" },
          h("p", {}, h("span", { class: `tag ${status === "Success" ? "good" : "bad"}` }, STATUS[status]), ` ${name}`),
          reason !== "" && h("p", { class: "soft small" }, reason),
          status !== "Success" && ruleResults(validation_results.filter((one) => !one.passed)),
        ),
      ),
    ];
  }

  private async coverage(): Promise<HTMLElement[]> {
    const found = await this.job<CoverageResult>("coverage", (status) => status === "Done" || status === "Error");
    if (this.of().isSaved) this.covered(found.mutants);
    const score = found.score === null ? "" : `Tests notice ${found.score} % of the changes that were tried: `;
    const mutants = [...found.mutants].sort(
      (a, b) => ORDER.indexOf(a.outcome) - ORDER.indexOf(b.outcome) || a.line - b.line,
    );
    return [
      ...(found.reason ? [h("p", {}, found.reason)] : []),
      h(
        "p",
        {},
        `${score}${found.killed} noticed, ${found.survived} not noticed, ${found.unreached} without an effect on any sample.`,
      ),
      ...(found.untested_pipelines.length
        ? [h("p", {}, `Without a test: ${found.untested_pipelines.join(", ")}`)]
        : []),
      h("ul", { class: "problems" }, ...mutants.slice(0, MOST).map((one) => this.mutant(one))),
    ];
  }

  private mutant({ outcome, description, line, column, would_notice, suggested_rule }: Mutant): HTMLElement {
    const kind = { killed: "good", survived: "warning", unreached: "info" }[outcome];
    return h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: "problem", click: () => this.goTo(line, column) },
        h(
          "span",
          { class: `severity ${kind}` },
          { killed: "● ", survived: "○ ", unreached: "– " }[outcome] + MEANING[outcome],
        ),
        h("span", {}, `line ${line}: ${description}`),
        would_notice !== "" && h("span", { class: "soft small" }, would_notice),
        suggested_rule && h("code", { class: "small" }, suggested_rule.condition),
      ),
    );
  }
}

function known(status: string): string {
  return status === "Success" || status === "Fail" || status === "Error" ? STATUS[status] : "not run on this text";
}
