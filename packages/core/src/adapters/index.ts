/** `@toolwell/core/adapter`: builds an adapter for another wire. See docs/guides/write-an-adapter.md. */

export type { Form } from '../base/wires.js'
export { type Adapter, createAdapter, type ProviderCall, type Thread, type Turn } from './shared/adapter.js'
export {
  argumentsObject,
  argumentsText,
  cutOff,
  type Native,
  readArguments,
  type Unit,
  type UnitCall,
} from './shared/thread.js'
export type { ProviderTools } from './shared/tools.js'
export type {
  IdRules,
  OwnUnit,
  ThinkingTrait,
  Warn,
  Warning,
  WarningCode,
  Wire,
  WireTraits,
} from './shared/wire.js'
