/** Published cache rules and price ratios; uncached input is 1. docs/reference/measurements.md has sources and dates. */
import type { CacheRule } from './cache.ts'
import type { WireName } from './wires/wire.ts'

export interface Provider {
  readonly name: string
  readonly title: string
  readonly wire: WireName
  readonly rule: CacheRule
  readonly prices: Prices
}

export interface Prices {
  readonly read: number
  readonly write: number
  readonly output: number
}

export const providers: readonly Provider[] = [
  {
    name: 'anthropic',
    title: 'Anthropic, 5 minutes',
    wire: 'anthropic',
    rule: { kind: 'marks', marks: 'all', minimum: 1024, minutes: 5 },
    prices: { read: 0.1, write: 1.25, output: 5 },
  },
  {
    name: 'anthropic-1h',
    title: 'Anthropic, 1 hour',
    wire: 'anthropic',
    rule: { kind: 'marks', marks: 'all', minimum: 1024, minutes: 60 },
    prices: { read: 0.1, write: 2, output: 5 },
  },
  {
    name: 'anthropic-5.5',
    title: 'Anthropic, Opus 5.5',
    wire: 'anthropic',
    rule: { kind: 'marks', marks: 'all', minimum: 1024, minutes: 5 },
    prices: { read: 0.05, write: 1.25, output: 5 },
  },
  {
    name: 'openai',
    title: 'OpenAI, GPT-5.6 and later',
    wire: 'openai-responses',
    rule: { kind: 'marks', marks: 'last', minimum: 1024, minutes: 30 },
    prices: { read: 0.1, write: 1.25, output: 5 },
  },
  {
    name: 'openai-5.4',
    title: 'OpenAI, GPT-5.4 and 5.5',
    wire: 'openai-responses',
    rule: { kind: 'prefix', minimum: 1024, step: 128, minutes: 10 },
    prices: { read: 0.1, write: 1, output: 6 },
  },
  {
    name: 'gemini',
    title: 'Gemini, implicit',
    wire: 'google',
    rule: { kind: 'prefix', minimum: 4096, step: 1, minutes: 5 },
    prices: { read: 0.1, write: 1, output: 5 },
  },
  {
    name: 'chat',
    title: 'Chat Completions, automatic cache',
    wire: 'openai-chat',
    rule: { kind: 'prefix', minimum: 1024, step: 128, minutes: 10 },
    prices: { read: 0.1, write: 1, output: 5 },
  },
  {
    name: 'no-cache',
    title: 'Chat Completions, cache not discounted',
    wire: 'openai-chat',
    rule: { kind: 'none' },
    prices: { read: 1, write: 1, output: 5 },
  },
]
