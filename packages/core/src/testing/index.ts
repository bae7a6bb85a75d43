/** `@toolwell/core/testing`: contract suites and a strict scripted endpoint, for our tests and for those of third parties. */

export { type ChatRuleOptions, violationOf } from './chat-rules.js'
export * from './scripted-chat.js'
export {
  type ContractCase,
  type StoreContractOptions,
  type StoreUnderTest,
  storeContract,
} from './store-contract.js'
