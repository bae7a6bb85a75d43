/** Parts that the other Toolwell packages share. Not for hosts: any release may change them. */

export { groupByTurn, type LedgerTurn, type LedgerTurns } from './accounting/group-by-turn.js'
export { dropUndefined, isRecord } from './base/data.js'
export { canonicalJson, shortHash } from './base/hash.js'
export { explainBadJson } from './base/json-error.js'
export { createWireName, sourceOfId, toolId } from './base/names.js'
export { nearest } from './base/nearest.js'
export { assertKnownKeys, invalid } from './base/options.js'
export { findPurposeLine, firstLine, quote, safeJson } from './base/text.js'
export { matchesGlob } from './catalogue/exposure.js'
export { LEDGER_FORMAT } from './ledger/event.js'
export { fitWire, wireRefusal } from './schema/dialect.js'
export { findSchemaProblems, normaliseSchema, type SchemaProblem } from './schema/normalise.js'
export { createDocument } from './search/document.js'
export { type ParsedQuery, parseQuery } from './search/query.js'
export { isClear, selectAnswers } from './search/select-answers.js'
export { certaintyThreshold, clearCoverage, defaultCutOff } from './search/tuning.js'
export { isOrdinaryWord } from './search/words/word-lists.js'
export { findToolProblem, isValidated, markValidated } from './tool/tool.js'
export { computeFingerprint } from './tool/wire-tool.js'
export {
  addToRing,
  createExamplesIndexes,
  type ExamplesIndex,
  RING_SIZE,
  type Ring,
} from './usage/examples.js'
