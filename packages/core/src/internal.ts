/** Parts that the other Toolwell packages share. Not for hosts: any release may change them. */

export { groupByTurn, type LedgerTurn, type LedgerTurns } from './accounting/group-by-turn.js'
export { dropUndefined, isRecord } from './base/data.js'
export { canonicalJson, shortHash } from './base/hash.js'
export { explainBadJson } from './base/json-error.js'
export { createWireName, sourceOfId, toolId } from './base/names.js'
export { nearest } from './base/nearest.js'
export { assertKnownKeys, invalid } from './base/options.js'
export { findPurposeLine, firstLine, quote, quoteLines, safeJson, truncateText } from './base/text.js'
export { providers, USUAL_WIRE } from './base/wires.js'
export { matchesGlob } from './catalogue/exposure.js'
export { LEDGER_FORMAT } from './ledger/event.js'
export { takeHead } from './result/read.js'
export { isTooLong, readLength } from './result/store.js'
export { fitWire, wireRefusal } from './schema/dialect.js'
export { findSchemaProblems, normaliseSchema, type SchemaProblem } from './schema/normalise.js'
export { createDocument } from './search/document.js'
export { type ParsedQuery, parseQuery } from './search/query.js'
export { isClear, selectAnswers } from './search/select-answers.js'
export { certaintyThreshold, clearCoverage, defaultCutOff } from './search/tuning.js'
export { isOrdinaryWord } from './search/words/word-lists.js'
export { createReaderTool, READER_NAME } from './surface/meta-tools.js'
export { findToolProblem, isValidated, markValidated } from './tool/tool.js'
export { computeFingerprint } from './tool/wire-tool.js'
export { describeKept } from './turn/prepare-result.js'
export { readKeptText } from './turn/read-kept-result.js'
export {
  addToRing,
  createExamplesIndexes,
  type ExamplesIndex,
  RING_SIZE,
  type Ring,
} from './usage/examples.js'
