/** What each door of the core exports at run time. A name added or lost here is a change of the public API. */
import { readFileSync } from 'node:fs'
import * as root from '@toolwell/core'
import * as adapter from '@toolwell/core/adapter'
import * as aiSdk from '@toolwell/core/ai-sdk'
import * as anthropic from '@toolwell/core/anthropic'
import * as google from '@toolwell/core/google'
import * as openaiChat from '@toolwell/core/openai-chat'
import * as openaiResponses from '@toolwell/core/openai-responses'
import * as presets from '@toolwell/core/presets'
import * as shared from '@toolwell/core/shared'
import * as jsonl from '@toolwell/core/stores/jsonl'
import * as testing from '@toolwell/core/testing'
import * as mcp from '@toolwell/mcp'
import * as lock from '@toolwell/mcp/lock'
import * as scan from '@toolwell/mcp/scan'
import { expect, it } from 'vitest'

const DOORS: Readonly<Record<string, { readonly door: object; readonly names: readonly string[] }>> = {
  '.': {
    door: root,
    names: [
      'ToolwellError',
      'applyManifest',
      'createHybridSearcher',
      'createLexicalSearcher',
      'createToolwell',
      'defaultCutOff',
      'defaultLoadFrom',
      'defaultPrompts',
      'defineTool',
      'documentOf',
      'estimate',
      'lintAmbient',
      'loadTokenizer',
      'memoryStore',
      'nearest',
      'quote',
      'readManifest',
      'safeJson',
      'searchFaces',
    ],
  },
  './adapter': {
    door: adapter,
    names: ['argumentsObject', 'argumentsText', 'createAdapter', 'cutOff', 'readArguments'],
  },
  './ai-sdk': { door: aiSdk, names: ['aiSdk', 'importTools'] },
  './anthropic': {
    door: anthropic,
    names: ['anthropic', 'assemble', 'importTools', 'readEvents', 'readUsage'],
  },
  './google': { door: google, names: ['assemble', 'google', 'importTools', 'readEvents', 'readUsage'] },
  './openai-chat': {
    door: openaiChat,
    names: ['assemble', 'importTools', 'openaiChat', 'readEvents', 'readUsage'],
  },
  './openai-responses': {
    door: openaiResponses,
    names: ['assemble', 'importTools', 'openaiResponses', 'readEvents', 'readUsage'],
  },
  './presets': {
    door: presets,
    names: [
      'caliban',
      'calibanSubAgent',
      'countTokenEstimate',
      'getDeferredToolSummary',
      'lazyToolSessionState',
      'mcpActive',
      'pawwork',
      'pawworkMetadata',
      'pawworkSteps',
      'pawworkUserTools',
      'qwenCode',
      'qwenExclude',
      'qwenReveal',
      'qwenSubagent',
      'qwenTool',
      'sf',
      'sfMcpTools',
      'sfToolSearchResult',
      'sfTools',
      'superAgent',
      'superAgentMcpTools',
      'superAgentTools',
      'toolDashboard',
      'unknownServers',
    ],
  },
  './shared': {
    door: shared,
    names: [
      'assertKnownKeys',
      'canonicalJson',
      'explainBadJson',
      'fingerprintOf',
      'firstLine',
      'fitWire',
      'isVouchedFor',
      'makeFolder',
      'matchesGlob',
      'parseQuery',
      'problemOf',
      'schemaProblems',
      'shortHash',
      'soundSchema',
      'vouchFor',
      'withFileLock',
    ],
  },
  './stores/jsonl': { door: jsonl, names: ['jsonlStore'] },
  './testing': {
    door: testing,
    names: [
      'anthropicProtocol',
      'chatProtocol',
      'commonPrefix',
      'googleProtocol',
      'responsesProtocol',
      'startScriptedChat',
      'startScriptedEndpoint',
      'storeContract',
    ],
  },
}

it('has these doors and no other', () => {
  const manifest = readFileSync(new URL('../packages/core/package.json', import.meta.url), 'utf8')
  expect(Object.keys(JSON.parse(manifest).exports)).toEqual(Object.keys(DOORS))
})

it.each(Object.entries(DOORS))('%s exports these names and no other', (_path, { door, names }) => {
  expect(Object.keys(door).sort()).toEqual(names)
})

it('@toolwell/mcp exports these names and no other', () => {
  expect(Object.keys(mcp).sort()).toEqual([
    'LoginError',
    'McpFailure',
    'configSchema',
    'connectServers',
    'defaultCacheFolder',
    'defaultConfigFiles',
    'defaultLoginFolder',
    'defineServer',
    'describeProblem',
    'diskCache',
    'diskLogins',
    'entryFolder',
    'loadConfig',
    'login',
    'logout',
    'memoryCache',
    'readDocument',
    'readDuration',
    'redactor',
    'serverFingerprint',
    'showEndpoint',
    'translateEntry',
  ])
})

it.each([
  [
    '@toolwell/mcp/lock',
    lock,
    [
      'EMPTY_LOCK',
      'LOCK_FILE',
      'LockError',
      'approve',
      'approveCommand',
      'checkLock',
      'createLock',
      'keepOut',
      'keepServers',
      'lockFileOf',
      'readLock',
      'renderLockDiff',
      'visible',
      'writeLock',
    ],
  ],
  ['@toolwell/mcp/scan', scan, ['SCAN_RULES', 'SCAN_VERSION', 'createScanner', 'scanServers']],
])('%s exports these names and no other', (_path, door, names) => {
  expect(Object.keys(door).sort()).toEqual(names)
})

it('@toolwell/mcp has these doors and no other', () => {
  const manifest = readFileSync(new URL('../packages/mcp/package.json', import.meta.url), 'utf8')
  expect(Object.keys(JSON.parse(manifest).exports)).toEqual(['.', './lock', './scan'])
})
