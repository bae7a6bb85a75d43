/** The public API of the core. What is not exported here is nobody's business. */
export type { Accounting } from './accounting.js'
export { lintAmbient } from './ambient-lint.js'
export type { Outcome, TargetCall } from './calls.js'
export type {
  Catalogue,
  Entry,
  Finding,
  Source,
  SourceState,
  SourceUpdate,
} from './catalogue.js'
export type { ChildOptions, Conversation } from './conversation.js'
export { ToolwellError, type ToolwellErrorCode } from './errors.js'
export type { AmbientFinding, Notice, ToolwellEvent } from './events.js'
export type {
  ActivationReport,
  Compaction,
  DeactivationReport,
  ImportedStep,
  ImportReport,
} from './host-steps.js'
export type {
  DeliveryName,
  DropReason,
  FailureReason,
  LedgerEvent,
  LedgerFact,
  Pin,
  SurfaceTokens,
  WireTool,
} from './ledger-event.js'
export {
  applyManifest,
  type Manifest,
  type ManifestOptions,
  type ManifestProblem,
  type ManifestTool,
  readManifest,
} from './manifest.js'
export type { Measurement, Usage } from './measurement.js'
export { type SearchFace, type SearchRequest, searchFaces } from './meta-tools.js'
export type { ModelCall } from './model-call.js'
export { nearest } from './nearest.js'
export type { Action, Policy, PolicyRequest } from './policy.js'
export type { Inspection } from './projections.js'
export { defaultPrompts, type Prompts } from './prompts.js'
export type { Exposure, ExposureRule } from './rules.js'
export type { CallAnswer, Execute, RunOptions } from './run-calls.js'
export { documentOf } from './search/document.js'
export type { NameMatch } from './search/exact-names.js'
export type { Explanation, TermExplanation } from './search/explain.js'
export { createHybridSearcher, type HybridOptions } from './search/hybrid.js'
export {
  createLexicalSearcher,
  defaultCutOff,
  defaultLoadFrom,
  type LexicalSearcher,
} from './search/lexical.js'
export type { Match, SearchResult } from './search/result.js'
export type { Ranked, RankQuery, SearchDocument, Searcher } from './search/searcher.js'
export type { Whereabouts, WhyQuery } from './search/why.js'
export type { ToolwellOptions } from './settings.js'
export { memoryStore } from './stores/memory.js'
export type { LedgerStore } from './stores/store.js'
export type { SurfaceView } from './surface.js'
export { quote, safeJson } from './text.js'
export { estimate, loadTokenizer, type Tokenizer } from './tokens.js'
export {
  defineTool,
  type ExecuteContext,
  type FloorRole,
  type Forwarded,
  type JsonSchema,
  type Risk,
  type SeenSource,
  type SeenTool,
  type Tool,
  type ToolAnnotations,
  type ToolProgress,
} from './tool.js'
export { createToolwell, type OpenOptions, type Toolwell } from './toolwell.js'
