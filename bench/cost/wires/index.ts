/** The wires by name. */
import { anthropicWire } from './anthropic.ts'
import { googleWire } from './google.ts'
import { chatWire } from './openai-chat.ts'
import { responsesWire } from './openai-responses.ts'
import type { BenchWire, WireName } from './wire.ts'

export const wires: Readonly<Record<WireName, BenchWire>> = {
  anthropic: anthropicWire,
  'openai-responses': responsesWire,
  google: googleWire,
  'openai-chat': chatWire,
}
