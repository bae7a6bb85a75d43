/** `@toolwell/core/ai-sdk`: AI SDK 6 and 7, for `generateText`, `streamText` and agents. It imports no SDK. */
export { type AiSdk, type AiSdkOptions, type AiSdkSettings, aiSdk } from './adapter.js'
export type { AiTool } from './registry.js'
export { type AsSchema, importTools } from './tools.js'
export type { AiMessage } from './wire.js'
