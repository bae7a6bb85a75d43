/** Public API: contract suites and strict scripted endpoints. */

export { anthropicProtocol } from './anthropic/protocol.js'
export type { AnthropicRequestBody } from './anthropic/request.js'
export type { AnthropicRuleOptions } from './anthropic/rules.js'
export { googleProtocol } from './google/protocol.js'
export type { GoogleRequestBody, GoogleRuleOptions } from './google/request.js'
export * from './openai-chat/protocol.js'
export type { ChatFamily, ChatRuleOptions } from './openai-chat/rules.js'
export { responsesProtocol } from './openai-responses/protocol.js'
export type { ResponsesRequestBody, ResponsesRuleOptions } from './openai-responses/request.js'
export {
  type ScriptedEndpoint,
  type ScriptedEndpointOptions,
  startScriptedEndpoint,
} from './scripted-endpoint.js'
export type { Protocol, Violation } from './shared/protocol.js'
export {
  type ContractCase,
  type StoreContractOptions,
  type StoreUnderTest,
  storeContract,
} from './store-contract.js'
