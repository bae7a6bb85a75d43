/** The main entry point: the public API of the core. */
export type { Accounting } from './accounting/accounting.js'
export type { Inspection } from './accounting/inspect.js'
export type { Measurement, Usage } from './accounting/measurement.js'
export { ToolwellError, type ToolwellErrorCode } from './base/errors.js'
export { estimate, loadTokenizer, type Tokenizer } from './base/tokens.js'
export type {
  Catalogue,
  Entry,
  Finding,
  Skipped,
  Source,
  SourceState,
  SourceUpdate,
  StateDetails,
  UnusableTool,
} from './catalogue/catalogue.js'
export type { Exposure, ExposureRule } from './catalogue/exposure.js'
export type { Action, Policy, PolicyRequest } from './catalogue/gate.js'
export type { Resolution } from './catalogue/name-index.js'
export type { Conversation } from './conversation.js'
export type { AutoPlan } from './costs/costs.js'
export type { Direct, DirectCall, DirectDigest, DirectNames, DirectOptions, DirectVerdict } from './direct.js'
export type { KeptResult, LedgerEvent, LedgerFact, SurfaceTokens, ToolwellEvent } from './ledger/event.js'
export type { Insert } from './ledger/state.js'
export type { LedgerStore } from './ledger/store.js'
export { memoryStore } from './ledger/stores/memory.js'
export type { IndexPart } from './search/document.js'
export type { Explanation, MissDetails, MissQuery, SearchMiss, TermExplanation } from './search/explain.js'
export type { Identity } from './search/index/segment.js'
export { createLexicalSearcher, type LexicalSearcher } from './search/lexical.js'
export type { NameMatch } from './search/name-matches.js'
export type { QueryTerm } from './search/query-terms.js'
export type { Match, SearchResult } from './search/result.js'
export type { LearnedTerms, Ranked, RankQuery, SearchDocument, Searcher } from './search/searcher.js'
export type { WireSupport } from './surface/auto.js'
export type { ChildOptions } from './surface/context.js'
export { type SearchRemarks, type SearchRequest, type SearchTool, searchTools } from './surface/meta-tools.js'
export type { NoticePlace, PresentAnchors } from './surface/plan.js'
export type { SurfaceView } from './surface/project.js'
export { defaultPrompts, type ListedTool, type Prompts } from './surface/prompts.js'
export type {
  AutoLoad,
  CostOptions,
  LimitOptions,
  ResultLimit,
  SearchOptions,
  SurfaceOptions,
  ToolwellOptions,
  UsageOptions,
} from './surface/settings.js'
export type { BoundThinking } from './surface/thinking.js'
export type { ArgumentsOf, ConvertibleSchema, OutputOf, StandardSchema } from './tool/define-tool.js'
export { defineTool, type ToolDefinition } from './tool/define-tool.js'
export type { DeliveryName, Dropped, DropReason, FailureReason, LoadSource, Notice } from './tool/notice.js'
export type { KeptParts, SourceChange, StoredPart } from './tool/source.js'
export type {
  AlwaysLoadedRole,
  ExecuteContext,
  Forwarded,
  JsonSchema,
  Risk,
  SeenSource,
  SeenTool,
  Tool,
  ToolAnnotations,
  ToolCaller,
  ToolProgress,
  Validation,
  ValidationIssue,
} from './tool/tool.js'
export type { Pin, WireTool } from './tool/wire-tool.js'
export { createToolwell, type Explained, type OpenOptions, type Toolwell } from './toolwell.js'
export type {
  Compaction,
  ImportedStep,
  ImportReport,
  LoadReport,
  UnloadReport,
} from './turn/host-steps.js'
export type { CallAnswer, Execute, RunOptions } from './turn/run.js'
export type { ModelCall, Outcome, TargetCall } from './turn/verdict.js'
export type { UsageControl, UsageStatus } from './usage/usage.js'
export type { UsageExample, UsageFilter, UsageStore } from './usage/usage-store.js'
