/** Chooses native tool search by the model names that providers and gateways use. */
import { describe, expect, it } from 'vitest'
import { chooseNativeWay } from '../../src/adapters/ai-sdk/protocol.js'

describe('Claude', () => {
  const way = (modelId: string) => chooseNativeWay({ provider: 'anthropic.messages', modelId }, {})

  it.each([
    'claude-instant-1.2',
    'claude-2.1',
    'claude-v2',
    'claude-3-haiku-20240307',
    'claude-3-7-sonnet-latest',
    'anthropic/claude-3.7-sonnet',
    'claude-sonnet-4-20250514',
    'claude-sonnet-4@20250514',
    'claude-sonnet-4',
    'claude-opus-4-0',
    'claude-opus-4-1-20250805',
    'anthropic/claude-opus-4.1',
    'anthropic.claude-sonnet-4-20250514-v1:0',
    'claude-4-opus-20250514',
  ])('%s cannot', (modelId) => expect(way(modelId)).toBeUndefined())

  it.each([
    'claude-sonnet-4-5-20250929',
    'claude-sonnet-4-5@20250929',
    'claude-haiku-4-5',
    'anthropic/claude-opus-4.5',
    'us.anthropic.claude-opus-4-6-v1:0',
    'claude-opus-4-12',
    'claude-4.5-sonnet',
    'claude-opus-5-5',
    'claude-sonnet-40',
    'claude-scripted',
    '',
  ])('%s can', (modelId) => expect(way(modelId)).toBe('references'))
})

describe('OpenAI', () => {
  const way = (modelId: string) => chooseNativeWay({ provider: 'openai.responses', modelId }, {})
  it.each(['gpt-4.1', 'gpt-5', 'gpt-5-mini', 'gpt-5.3-codex', 'o3', 'ft:gpt-4o:me'])('%s cannot', (modelId) =>
    expect(way(modelId)).toBeUndefined(),
  )
  it.each(['gpt-5.4', 'gpt-5.4-mini', 'gpt-5.10', 'gpt-6', 'my-deployment'])('%s can', (modelId) =>
    expect(way(modelId)).toBe('tool-search'),
  )
  it('others that speak its wire cannot', () => {
    expect(chooseNativeWay({ provider: 'xai.responses', modelId: 'gpt-6' }, {})).toBeUndefined()
    expect(chooseNativeWay({ provider: 'openai.chat', modelId: 'gpt-6' }, {})).toBeUndefined()
  })
})
