// The API's answers, by the names that the console has for them.
export type {
  ComponentDetail,
  ComponentSummary,
  Edit,
  FieldOut as Field,
  Finding,
  Graph,
  InstalledVersionOut as CollectorVersion,
  LintItem,
  ListedComponent as Listed,
  ListedFinding,
  OttlReferenceOut as OttlReference,
  PartNotChecked as NotChecked,
  Pipeline,
  PolicyFinding,
  ValidationResult as Check,
  VersionDetail as Version,
} from "./shapes";
