// The API's answers, as far as the console reads them. docs: functions/identity/openapi.json.

export interface Finding {
  message: string;
  component_path: string;
  code: string;
  line: number | null;
  column: number | null;
}

export interface PolicyFinding extends Finding {
  severity: "error" | "warning" | "info";
  way_out: string;
  suppressed: { line: number; reason: string } | null;
}

export interface LintItem {
  location: { path: string; line: number | null; column: number | null };
  context: string | null;
  kind: string;
  expression: string;
  error: string | null;
  note: string | null;
}

/** A part of a check that could not be had. */
export interface NotChecked {
  problem: { code: string; detail: string };
}

export interface Listed {
  id: string;
  section: string;
}

export interface Pipeline {
  id: string;
  signal: string;
  line: number;
  column: number;
  receivers: Listed[];
  processors: Listed[];
  exporters: Listed[];
}

export interface Graph {
  components: { section: string; id: string; line: number; column: number }[];
  pipelines: Pipeline[];
  incomplete: boolean;
}

/** A change of the text, in lines and columns from 1; the end is behind the last character. */
export interface Edit {
  line: number;
  column: number;
  end_line: number;
  end_column: number;
  text: string;
}

/** One thing that a check found, whoever found it. The end is behind the last character; `fix` mends it. */
export interface ListedFinding {
  severity: "error" | "warning" | "note";
  source: "collector" | "start" | "lint" | "policy" | "schema";
  code: string;
  message: string;
  way_out: string;
  component_path: string;
  line: number | null;
  column: number | null;
  end_line: number | null;
  end_column: number | null;
  fix: Edit[] | null;
}

export interface Check {
  valid: boolean;
  version: string;
  errors: Finding[];
  warnings: Finding[];
  findings: ListedFinding[];
  /** The configuration inside of a text that is something else. */
  wrapped?: { path: string; yaml: string };
  environment: { name: string; has_default: boolean; component_path: string }[];
  lint?: { items: LintItem[]; skipped: { expression: string; reason: string }[] } | NotChecked;
  policies?: { passed: boolean; findings: PolicyFinding[] } | NotChecked;
  graph?: Graph | NotChecked;
  start?: { started: string[]; findings: Finding[] } | NotChecked;
}

export interface Version {
  n: number;
  status: "draft" | "published";
  collector_version: string;
  description: string | null;
  created_by: { name: string };
  updated_at: string;
  yaml: string;
  /** Absent if it has none. */
  feature_gates?: string[];
}

export interface CollectorVersion {
  version: string;
  default: boolean;
  reduced: boolean;
  /** For a version that is being built, of which a first program answers: until then. */
  whole_in_seconds: number | null;
  unusable: string | null;
}

export interface ComponentSummary {
  kind: string;
  type: string;
  aliases: string[];
  deprecated: string | null;
  summary: string;
}

export interface Field {
  path: string;
  type: string;
  default: string | null;
  description: string;
  values: string[];
  deprecated: boolean;
}

export interface ComponentDetail extends ComponentSummary {
  description: string;
  fields: Field[];
}

export interface OttlReference {
  paths: { path: string; type: string; writable: boolean; description: string }[];
  functions: {
    name: string;
    kind: string;
    signature: string;
    description: string;
    parameters?: { name: string; optional: boolean }[];
    in?: string[];
  }[];
  enums: { name: string; value: number; description: string }[];
}
