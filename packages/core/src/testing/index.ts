/** `@toolwell/core/testing`: contract suites and strict scripted endpoints, for our tests and for those of third parties. */

export { anthropicProtocol } from './anthropic-protocol.js'
export type { AnthropicRuleOptions } from './anthropic-rules.js'
export { chatProtocol } from './chat-protocol.js'
export type { ChatRuleOptions } from './chat-rules.js'
export { googleProtocol } from './google-protocol.js'
export type { GoogleRuleOptions } from './google-request.js'
export type { Protocol, Violation } from './protocol.js'
export { responsesProtocol } from './responses-protocol.js'
export type { ResponsesRuleOptions } from './responses-request.js'
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
