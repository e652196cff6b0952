// A run's answers, and those of suites, coverage and comparisons, by the names that the console has for them.
import type { RuleIn } from "../lib/shapes";

export type {
  ComparedTest,
  ComparisonResult,
  CoverageResult,
  ListedTestOut as Listed,
  Mutant,
  NamedTestOut as NamedTest,
  Reason,
  RuleIn,
  RuleOutcome as RuleResult,
  RunOut as Run,
  Step,
  StepOut as StepWithRecords,
  StepRecord,
  StepsOut as Steps,
  SuiteResult,
  VersionTestsOut as VersionTests,
} from "../lib/shapes";

export type Context = NonNullable<RuleIn["context"]>;
export type Expect = NonNullable<RuleIn["expect"]>;

/** What components complained of in a run, and the notes on it. */
export interface Complaints {
  component_errors: { component: string; count: number; message: string; record: number | null }[];
  notes: { code: string; message: string }[];
}

/** A suite, coverage or a comparison under way. */
export interface Job<Result> {
  id: string;
  status: string;
  reason: string;
  result: Result | null;
}
