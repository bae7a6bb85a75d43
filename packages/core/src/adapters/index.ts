/** `@toolwell/core/adapter`: what the adapters of this package are made with, for a wire of your own. See docs/guides/write-an-adapter.md. */

export { type Adapter, createAdapter, type Thread, type Turn } from './shared/adapter.js'
export type { ThinkingTrait } from './shared/bound-thinking.js'
export type { IdRules } from './shared/settle-ids.js'
export {
  argumentsObject,
  argumentsText,
  cutOff,
  type Native,
  readArguments,
  type Unit,
  type UnitCall,
} from './shared/thread.js'
export type { Warn, Warning, WarningCode } from './shared/warning.js'
export type { OwnUnit, Wire, WireTraits } from './shared/wire.js'
export type { Form } from './shared/wrong-door.js'
