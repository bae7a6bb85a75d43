/** The run-time exports of each entry point. A difference is a change of the public API. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as root from '@toolwell/core'
import * as adapter from '@toolwell/core/adapter'
import * as aiSdk from '@toolwell/core/ai-sdk'
import * as anthropic from '@toolwell/core/anthropic'
import * as framework from '@toolwell/core/framework'
import * as google from '@toolwell/core/google'
import * as hybrid from '@toolwell/core/hybrid'
import * as internal from '@toolwell/core/internal'
import * as internalNode from '@toolwell/core/internal/node'
import * as lint from '@toolwell/core/lint'
import * as manifest from '@toolwell/core/manifest'
import * as openaiChat from '@toolwell/core/openai-chat'
import * as openaiResponses from '@toolwell/core/openai-responses'
import * as result from '@toolwell/core/result'
import * as store from '@toolwell/core/store'
import * as jsonl from '@toolwell/core/stores/jsonl'
import * as resultFolder from '@toolwell/core/stores/results'
import * as telemetry from '@toolwell/core/telemetry'
import * as usage from '@toolwell/core/usage'
import * as gateway from '@toolwell/gateway'
import * as gatewayApi from '@toolwell/gateway/api'
import * as gatewayBridge from '@toolwell/gateway/bridge'
import * as gatewayPostgres from '@toolwell/gateway/postgres'
import * as gatewayStorage from '@toolwell/gateway/storage'
import * as mcp from '@toolwell/mcp'
import * as mcpInternal from '@toolwell/mcp/internal'
import * as lock from '@toolwell/mcp/lock'
import * as scan from '@toolwell/mcp/scan'
import * as postgres from '@toolwell/postgres'
import * as postgresInternal from '@toolwell/postgres/internal'
import * as presets from '@toolwell/presets'
import * as testing from '@toolwell/testing'
import ts from 'typescript'
import { expect, it } from 'vitest'

const ENTRY_POINTS: Readonly<Record<string, { readonly entry: object; readonly names: readonly string[] }>> =
  {
    '.': {
      entry: root,
      names: [
        'ToolwellError',
        'createLexicalSearcher',
        'createToolwell',
        'defaultPrompts',
        'defineTool',
        'estimate',
        'loadTokenizer',
        'memoryStore',
        'searchTools',
      ],
    },
    './adapter': {
      entry: adapter,
      names: ['argumentsObject', 'argumentsText', 'createAdapter', 'cutOff', 'readArguments'],
    },
    './ai-sdk': { entry: aiSdk, names: ['aiSdk', 'importTools'] },
    './anthropic': {
      entry: anthropic,
      names: ['anthropic', 'assemble', 'importTools', 'readEvents', 'readUsage'],
    },
    './framework': { entry: framework, names: ['framework'] },
    './google': { entry: google, names: ['assemble', 'google', 'importTools', 'readEvents', 'readUsage'] },
    './hybrid': { entry: hybrid, names: ['createHybridSearcher'] },
    './internal': {
      entry: internal,
      names: [
        'LEDGER_FORMAT',
        'READER_NAME',
        'RING_SIZE',
        'USUAL_WIRE',
        'addToRing',
        'assertKnownKeys',
        'canonicalJson',
        'certaintyThreshold',
        'clearCoverage',
        'computeFingerprint',
        'createDocument',
        'createExamplesIndexes',
        'createReaderTool',
        'createWireName',
        'defaultCutOff',
        'describeKept',
        'dropUndefined',
        'explainBadJson',
        'findPurposeLine',
        'findSchemaProblems',
        'findToolProblem',
        'firstLine',
        'fitWire',
        'groupByTurn',
        'invalid',
        'isClear',
        'isOrdinaryWord',
        'isRecord',
        'isTooLong',
        'isValidated',
        'markValidated',
        'matchesGlob',
        'nearest',
        'normaliseSchema',
        'parseQuery',
        'providers',
        'quote',
        'quoteLines',
        'readKeptText',
        'readLength',
        'safeJson',
        'selectAnswers',
        'shortHash',
        'sourceOfId',
        'takeHead',
        'toolId',
        'truncateText',
        'wireRefusal',
      ],
    },
    './internal/node': {
      entry: internalNode,
      names: [
        'checkLedger',
        'findLedgerFiles',
        'makeFolder',
        'readLedgerEvents',
        'repairLedger',
        'withFileLock',
      ],
    },
    './lint': { entry: lint, names: ['lintPrompt'] },
    './manifest': { entry: manifest, names: ['applyManifest', 'readManifest'] },
    './openai-chat': {
      entry: openaiChat,
      names: ['assemble', 'importTools', 'openaiChat', 'readEvents', 'readUsage'],
    },
    './openai-responses': {
      entry: openaiResponses,
      names: ['assemble', 'importTools', 'openaiResponses', 'readEvents', 'readUsage'],
    },
    './result': { entry: result, names: ['mcpResult', 'memoryResults', 'toolResult'] },
    './store': {
      entry: store,
      names: ['assertLedgerId', 'conflict', 'eventsFrom', 'eventsToJson', 'stillNeeded'],
    },
    './stores/jsonl': { entry: jsonl, names: ['jsonlStore'] },
    './stores/results': { entry: resultFolder, names: ['resultFolder'] },
    './telemetry': { entry: telemetry, names: ['openTelemetry'] },
    './usage': { entry: usage, names: ['fileUsage'] },
  }

it('has these entry points and no other', () => {
  const text = readFileSync(new URL('../packages/core/package.json', import.meta.url), 'utf8')
  expect(Object.keys(JSON.parse(text).exports)).toEqual(Object.keys(ENTRY_POINTS))
})

it.each(Object.entries(ENTRY_POINTS))('%s exports these names and no other', (_path, { entry, names }) => {
  expect(Object.keys(entry).sort()).toEqual(names)
})

it('@toolwell/mcp exports these names and no other', () => {
  expect(Object.keys(mcp).sort()).toEqual([
    'LoginError',
    'McpFailure',
    'connectServers',
    'defaultConfigFiles',
    'defineServer',
    'describeProblem',
    'diskCache',
    'diskFirstUse',
    'diskLogins',
    'loadConfig',
    'login',
    'logout',
    'memoryCache',
    'memoryFirstUse',
  ])
})

it.each([
  ['@toolwell/postgres', postgres, ['postgresStore', 'schemaSql']],
  [
    '@toolwell/presets',
    presets,
    [
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
      'restoreLazyToolSessionState',
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
  ],
  [
    '@toolwell/testing',
    testing,
    [
      'anthropicProtocol',
      'chatProtocol',
      'commonPrefix',
      'googleProtocol',
      'responsesProtocol',
      'startScriptedChat',
      'startScriptedEndpoint',
      'storeContract',
    ],
  ],
  [
    '@toolwell/mcp/internal',
    mcpInternal,
    [
      'DEFAULTS',
      'MOST_BYTES_OF_DATA',
      'SharedProcesses',
      'applyApproved',
      'approveCommands',
      'approvePending',
      'approveSeen',
      'approveSeenServer',
      'asLock',
      'changeName',
      'changesJson',
      'compareLock',
      'connectWithSharedProcesses',
      'createRedactor',
      'defaultCacheFolder',
      'defaultFirstUseFolder',
      'defaultLogFolder',
      'defaultLoginFolder',
      'defaultReadOnlyFolder',
      'defaultTrustFolder',
      'describeReadError',
      'describeStart',
      'describeWarning',
      'diskReadOnly',
      'editEntries',
      'findEntry',
      'findEntryFolder',
      'findLogFile',
      'findPending',
      'findUnmatchedPatterns',
      'fingerprint',
      'groupByLock',
      'insertFolder',
      'isHard',
      'isOffered',
      'isSecretName',
      'loginFingerprint',
      'looksPoisoned',
      'matchesDenied',
      'matchesTool',
      'memoryReadOnly',
      'readDocument',
      'readDuration',
      'readEntry',
      'readSmallFile',
      'replaceFolder',
      'scanChange',
      'selectByProfile',
      'showEndpoint',
      'translateEntry',
      'trustScope',
      'trustedLock',
      'trustedProjects',
      'waitingCommands',
      'wantsHeaders',
      'withCommonVariables',
    ],
  ],
  [
    '@toolwell/mcp/lock',
    lock,
    [
      'EMPTY_LOCK',
      'LOCK_FILE',
      'LockError',
      'approve',
      'approveChange',
      'approveCommand',
      'checkLock',
      'createLock',
      'findLockFile',
      'isOfferName',
      'keepOut',
      'keepServers',
      'listLockableOffers',
      'readLock',
      'renderLockDiff',
      'visible',
      'writeLock',
    ],
  ],
  ['@toolwell/mcp/scan', scan, ['SCAN_RULES', 'SCAN_VERSION', 'createScanner', 'scanServers']],
  [
    '@toolwell/gateway',
    gateway,
    ['DEFAULT_PORT', 'PortInUse', 'createGateway', 'createRulesJudge', 'runDaemon', 'trustedProjects'],
  ],
  ['@toolwell/gateway/api', gatewayApi, []],
  [
    '@toolwell/gateway/bridge',
    gatewayBridge,
    [
      'CALL_NAME',
      'DAEMON_FLAGS',
      'DASHBOARD_LINK_PATH',
      'FolderProblem',
      'LONGEST_RULE',
      'SEARCH_NAME',
      'StartProblem',
      'approval',
      'askDaemon',
      'defaultGatewayFolder',
      'endDaemon',
      'endpointPath',
      'findDaemon',
      'findOrStartDaemon',
      'identifyProgram',
      'isAlive',
      'isDaemon',
      'isTokenName',
      'keepForOwner',
      'newToken',
      'preparePrivateFolder',
      'profileFault',
      'readToken',
      'replaceToken',
      'runBridge',
      'shellWord',
      'tokenFileIn',
      'tokenIn',
      'writeRules',
    ],
  ],
  ['@toolwell/gateway/storage', gatewayStorage, ['auditFile', 'fileStorage', 'hashToken']],
  ['@toolwell/gateway/postgres', gatewayPostgres, ['KEY_VARIABLE', 'openPostgresStorage']],
  ['@toolwell/postgres/internal', postgresInternal, ['openClient', 'openDatabase', 'postgresResults']],
])('%s exports these names and no other', (_path, entry, names) => {
  expect(Object.keys(entry).sort()).toEqual(names)
})

it('@toolwell/mcp has these entry points and no other', () => {
  const manifest = readFileSync(new URL('../packages/mcp/package.json', import.meta.url), 'utf8')
  expect(Object.keys(JSON.parse(manifest).exports)).toEqual([
    '.',
    './internal',
    './internal/files',
    './lock',
    './scan',
  ])
})

it('every type in the signatures of @toolwell/core can be imported from one of its entry points', () => {
  const source = fileURLToPath(new URL('../packages/core/', import.meta.url))
  const manifest = JSON.parse(readFileSync(`${source}package.json`, 'utf8')) as {
    exports: Record<string, { default: string }>
  }
  const entryPoints = Object.entries(manifest.exports)
    .filter(([entry]) => !entry.startsWith('./internal'))
    .map(([, { default: built }]) => source + built.replace('./dist/', 'src/').replace(/\.js$/, '.ts'))
  const program = ts.createProgram(entryPoints, {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    strict: true,
  })
  const checker = program.getTypeChecker()
  const resolve = (symbol: ts.Symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  const exported = new Set(
    entryPoints.flatMap((entry) => {
      const file = program.getSourceFile(entry)
      const module = file && checker.getSymbolAtLocation(file)
      return module ? checker.getExportsOfModule(module).map(resolve) : []
    }),
  )
  expect(exported.size).toBeGreaterThan(100)
  const missing = new Set<string>()
  const seen = new Set<ts.Symbol>()
  /** Reads declarations only, not the bodies of functions. */
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node)) return
    const name = ts.isTypeReferenceNode(node)
      ? node.typeName
      : ts.isExpressionWithTypeArguments(node)
        ? node.expression
        : undefined
    const found = name && checker.getSymbolAtLocation(name)
    if (found) reach(resolve(found))
    ts.forEachChild(node, visit)
  }
  const reach = (symbol: ts.Symbol): void => {
    const [declaration] = symbol.declarations ?? []
    if (!declaration?.getSourceFile().fileName.startsWith(`${source}src/`) || seen.has(symbol)) return
    seen.add(symbol)
    const isNamed = ts.isInterfaceDeclaration(declaration) || ts.isTypeAliasDeclaration(declaration)
    const isOpen = isNamed && declaration.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    if (isOpen && !exported.has(symbol)) missing.add(symbol.name)
    if (isNamed) visit(declaration)
  }
  for (const symbol of exported)
    for (const declaration of symbol.declarations ?? [])
      if (!ts.isClassDeclaration(declaration)) ts.forEachChild(declaration, visit)
  expect([...missing]).toEqual([])
})
