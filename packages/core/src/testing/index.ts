/** `@toolwell/core/testing`: contract suites and strict scripted endpoints, for our tests and for those of third parties. */

export { anthropicProtocol } from './anthropic-protocol.js'
export { chatProtocol } from './chat-protocol.js'
export { type ChatRuleOptions, violationOf } from './chat-rules.js'
export { googleProtocol } from './google-protocol.js'
export type { Protocol, Violation } from './protocol.js'
export { responsesProtocol } from './responses-protocol.js'
export * from './scripted-chat.js'
export {
  type ScriptedEndpoint,
  type ScriptedEndpointOptions,
  startScriptedEndpoint,
} from './scripted-endpoint.js'
export {
  type ContractCase,
  type StoreContractOptions,
  type StoreUnderTest,
  storeContract,
} from './store-contract.js'
