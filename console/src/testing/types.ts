// A run's answers, and those of suites, coverage and comparisons, as far as the console reads them.

export type Expect = "any" | "all" | "none" | "count";

export interface RuleIn {
  name: string;
  condition: string;
  context?: string;
  expect: Expect;
  min?: number | null;
  max?: number | null;
}

export interface RuleResult extends RuleIn {
  passed: boolean;
  message: string;
}

/** What components complained of in a run, and the notes on it. */
export interface Complaints {
  component_errors: { component: string; count: number; message: string; record: number | null }[];
  notes: { code: string; message: string }[];
}

export interface Run extends Complaints {
  id: string;
  status: "Queued" | "Running" | "Success" | "Fail" | "Error";
  stderr: string;
  validation_results: RuleResult[] | null;
  configuration_id: string | null;
  version_number: number | null;
  target_pipeline: string;
  duration_seconds: number;
  created_at: string;
}

export interface NamedTest {
  name: string;
  target_pipeline: string;
  sample: string;
  duration_seconds: number;
  rules: RuleIn[];
}

export interface Listed {
  name: string;
  target_pipeline: string;
  rule_count: number;
  expects_output: boolean;
}

export interface VersionTests {
  items: Listed[];
  evidence: { passed: boolean; current: boolean; tests: { name: string; status: string }[] }[];
}

export interface Job<Result> {
  id: string;
  status: string;
  reason: string;
  result: Result | null;
}

export interface SuiteResult {
  passed: boolean;
  tests: { name: string; status: "Success" | "Fail" | "Error"; reason: string; validation_results: RuleResult[] }[];
}

export interface Mutant {
  component: string;
  line: number;
  column: number;
  description: string;
  outcome: "killed" | "survived" | "unreached";
  would_notice: string;
  suggested_rule: (RuleIn & { test: string }) | null;
}

export interface CoverageResult {
  score: number | null;
  reason: string;
  killed: number;
  survived: number;
  unreached: number;
  untested_pipelines: string[];
  mutants: Mutant[];
}

export interface ComparedTest {
  name: string;
  target_pipeline: string;
  status: "equal" | "differs" | "not_compared";
  reason: string;
  left: Complaints;
  right: Complaints;
  saving: { words: string; services: { service: string; words: string }[] } | null;
  differences: {
    differences: {
      signal: string;
      change: "added" | "missing" | "changed";
      left: number | null;
      right: number | null;
      name: string;
      fields: { path: string; change: "added" | "missing" | "changed"; left: unknown; right: unknown }[];
      fields_left_out: number;
    }[];
    left_out: number;
  } | null;
}

export interface ComparisonResult {
  equal: boolean;
  compared: boolean;
  tests: ComparedTest[];
}

export interface Reason {
  statement: string | null;
  condition: string | null;
  component: string | null;
  path: string;
  line: number | null;
}

export interface StepRecord {
  record: number | null;
  records: number[];
  outcome: "unchanged" | "changed" | "dropped" | "created" | "split" | "merged";
  outputs: number;
  name: string;
  by: Reason[];
  fields: { path: string; change: "added" | "removed" | "changed"; before: unknown; after: unknown }[];
  fields_left_out: number;
}

export interface Step {
  n: number;
  pipeline: string;
  kind: string;
  component: string;
  replaces: string[];
  exact: boolean;
  records_in: number;
  records_out: number;
  changed: number;
  dropped: number;
  created: number;
  errors: { message: string; count: number }[];
}

export interface StepWithRecords extends Step {
  records: StepRecord[];
  next_cursor: string | null;
}

export interface Steps {
  available: boolean;
  reason: string | null;
  complete: boolean;
  left_out: { records: number };
  items: Step[];
}
