/** Handles one call, from the name and arguments of the client to its result. Every call is judged. */
import { homedir } from 'node:os'
import {
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server'
import type { Direct, DirectCall, DirectVerdict, Entry, Outcome } from '@toolwell/core'
import { isRecord, quote, quoteLines, READER_NAME, safeJson, truncateText } from '@toolwell/core/internal'
import { type Caller, McpFailure } from '@toolwell/mcp'
import { insertFolder, replaceFolder } from '@toolwell/mcp/internal'
import { CALL_NAME, SEARCH_NAME, WORKSPACE_HEADER } from '../bridge/protocol.js'
import { prompts } from '../prompts.js'
import type { CallToolResult } from '../servers/server-set.js'
import type { View } from '../servers/view.js'
import { nameLinks } from './answer-offers.js'
import type { Taken } from './call-limits.js'
import { type Results, readResult, shortenResult } from './long-results.js'
import { type MeasuredCall, measureCall } from './measure-call.js'
import { findOwnName, nameOwnTools, type OwnTools, READ_NAME, removePrefix } from './own-tools.js'
import type { OptionsFor } from './relay.js'

export interface Asked {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly caller: Caller
  readonly results: Results
  readonly workspace: string | undefined
  readonly optionsFor: OptionsFor
  /** The view after the latest change of the config. */
  readonly currentView: () => View
  /** Counts a call of a server against the limits of the principal. */
  readonly take: (source: string) => Taken
  /** Waits until this client may search. */
  readonly searchTurn: () => Promise<void>
  /** Questions of the server that the client could not answer, by method. */
  readonly refused: Set<string>
}

/** The outcome of a call, for events and counts. Names the target tool, never a wrapper. */
export interface Called {
  readonly kind: 'search' | 'run' | 'refused'
  /** The tool that ran, by its name in the gateway. If none ran, the tool that was requested. */
  readonly tool: string
  /** The search query. */
  readonly query?: string
  /** Number of tools found. */
  readonly found?: number
  /** Why the tool did not run. Contains no arguments. */
  readonly reason?: NotRun
  readonly isError: boolean
  /** Length of the answer if the gateway wrote it, otherwise 0. */
  readonly characters: number
  /** For the audit log. Absent for searches and for reading a kept result. */
  readonly inner?: MeasuredCall['inner']
  /** For the dashboard. Contains the arguments and the result. */
  readonly detail?: MeasuredCall['detail']
}

export type NotRun =
  | Exclude<Outcome['kind'], 'search' | 'result' | 'schema-needed'>
  | 'not-read-only'
  | 'no-folder'
  | 'limit'

/** Longest name of a tool. It takes seconds to compare a name of megabytes with all names. */
const LONGEST_NAME = 1000
/** Longest query, which may select many tools. A query of megabytes takes seconds too. */
const LONGEST_QUERY = 20_000

export async function callTool(
  view: View,
  asked: Asked,
  onCalled: (called: Called) => void,
): Promise<CallToolResult> {
  const started = performance.now()
  const own = nameOwnTools(view.direct, asked.results.client)
  const { direct } = own
  const { name } = asked
  const ownName = findOwnName(name)
  const isRead = ownName === READ_NAME
  const isDirect = ownName === undefined
  const wanted = isRead || ownName === CALL_NAME ? asked.input.name : name
  if (typeof wanted === 'string' && wanted.length > LONGEST_NAME) {
    const text = prompts.longName({ search: own.search })
    const shown = textResult(text, true)
    const tool = wanted.slice(0, 100)
    const input = isDirect ? asked.input : asked.input.arguments
    const measured = measureCall({ server: '', tool, started, input, shown })
    onCalled({
      kind: 'refused',
      tool,
      reason: 'unknown',
      isError: true,
      characters: text.length,
      ...measured,
    })
    if (isDirect) throw new ProtocolError(ProtocolErrorCode.InvalidParams, text)
    return shown
  }
  const folder = callerFolder(asked.caller)
  const heard = removeFolder(folder, view, asked.input)
  // Core would take its own names for the search and the bridge.
  if (isDirect && (name === direct.loader || name === direct.bridge))
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      direct.prompts.unknown({ asked: quote(name), nearest: [], loader: direct.loader }),
    )
  const reading = readReaderInput(ownName, asked.input)
  if (reading) {
    const { text, isError } = await readResult(reading, view, asked.results, own)
    onCalled({ kind: 'run', tool: READER_NAME, isError, characters: text.length })
    return textResult(text, isError)
  }
  if (ownName === SEARCH_NAME) {
    const { query } = asked.input
    if (typeof query === 'string' && query.length > LONGEST_QUERY) {
      const text = prompts.longQuery()
      onCalled({
        kind: 'search',
        tool: name,
        query: query.slice(0, 100),
        isError: true,
        characters: text.length,
      })
      return textResult(text, true)
    }
    await view.waitBeforeListing()
    await asked.searchTurn()
  }
  const calls = listMeant(name, ownName, heard.value, direct)
  let verdict = await judgeFirst(direct, calls)
  if (verdict.kind === 'answer' && isNotKnown(verdict.outcome)) {
    // The server may be about to list its tools.
    const { revision } = view.catalogue
    await view.settled()
    if (view.catalogue.revision !== revision) verdict = await judgeFirst(direct, calls)
  }
  if (verdict.kind === 'answer') {
    const isSearch = verdict.outcome.kind === 'search'
    const text = insertFolderInText(
      folder,
      view,
      isSearch ? completeSearch(verdict, view, own) : verdict.text,
    )
    const answer = textResult(text, !isSearch)
    const meant = typeof wanted === 'string' && wanted !== name ? wanted : (ownName ?? name)
    const outcome = describeOutcome(verdict.outcome, meant, view, direct)
    const { source = '', tool = { name: outcome.called.tool } } = outcome.entry ?? {}
    const input = isDirect ? asked.input : asked.input.arguments
    const inner = { server: source, tool: tool.name, started, input, shown: answer }
    onCalled({
      ...outcome.called,
      isError: !isSearch,
      characters: text.length,
      ...(isSearch ? {} : measureCall(inner)),
    })
    if (isDirect && verdict.outcome.kind === 'unknown')
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, verdict.text)
    return answer
  }
  const target = { ...verdict.target, input: heard.restore(verdict.target.input) }
  const { wireName: tool } = target
  const measure = (given?: CallToolResult, shown = given) =>
    measureCall({ server: target.source, tool: target.name, started, input: target.input, given, shown })
  const refuse = (reason: NotRun, text: string): CallToolResult => {
    const answer = textResult(text, true)
    const measured = measure(undefined, answer)
    onCalled({ kind: 'refused', tool, reason, isError: true, characters: text.length, ...measured })
    return answer
  }
  const finish = (isError: boolean, given?: CallToolResult, shown = given) =>
    onCalled({ kind: 'run', tool, isError, characters: 0, ...measure(given, shown) })
  const isReadable = () => view.isReadOnly(target.source, target.name)
  const refuseToRead = () => refuse('not-read-only', prompts.notReadOnly({ name: tool, own }))
  if (!isDirect && lacksArguments(asked.input)) {
    const call = writeCall(tool, target.input)
    return refuse(
      'invalid',
      prompts.flatArguments({ tool: isRead && isReadable() ? own.read : own.call, call }),
    )
  }
  if (isRead && !isReadable()) return refuseToRead()
  if (asked.workspace === undefined && view.namesFolder(target.source)) {
    const state = prompts.needsWorkspace({ header: WORKSPACE_HEADER })
    return refuse('no-folder', direct.prompts.unavailable({ name: tool, state }))
  }
  const taken = asked.take(target.source)
  if ('refusal' in taken) return refuse('limit', taken.refusal)
  let result: CallToolResult | undefined
  try {
    result = addRefusals(
      await run(view, target, asked, isDirect, isRead ? isReadable : undefined),
      target.source,
      asked.refused,
    )
  } catch (error) {
    finish(true)
    throw error
  } finally {
    taken.release()
  }
  // The definition changed after the approval, as the start of its server showed.
  if (result === undefined) return refuseToRead()
  // It has no content. The call ends with a later request, which brings the answers.
  if (result.resultType === 'input_required') return result
  // Clients validate the structured content of a tool that they know with its output schema.
  const entry = isDirect ? view.catalogue.get(target.id) : undefined
  const shown =
    entry && view.listedTool(entry)?.outputSchema
      ? result
      : await shortenResult(result, target, view.server(target.source)?.maxResultTokens, asked.results, own)
  finish(result.isError === true, result, shown)
  return shown
}

/** The input of `read_result`, if the call means it, also through the bridge. */
function readReaderInput(ownName: string | undefined, input: Asked['input']): Asked['input'] | undefined {
  if (ownName === READER_NAME) return input
  const isWrapped = (ownName === CALL_NAME || ownName === READ_NAME) && typeof input.name === 'string'
  if (!isWrapped || findOwnName(String(input.name)) !== READER_NAME) return undefined
  return isRecord(input.arguments) ? input.arguments : input
}

/** Lists the calls that the client may mean, under core's names, best first. */
function listMeant(
  name: string,
  ownName: string | undefined,
  input: Asked['input'],
  { loader, bridge }: Direct,
): readonly DirectCall[] {
  if (ownName === SEARCH_NAME) return [{ name: loader, input }]
  if (ownName === undefined) return listSpellings(name).map((each) => ({ name: each, input }))
  const target = input.name
  // The bridge refuses to call itself or the search.
  const names = typeof target !== 'string' ? [target] : findOwnName(target) ? [bridge] : listSpellings(target)
  return names.flatMap((each) =>
    listArguments(input).map((given) => ({
      name: bridge,
      input: { ...input, name: each, arguments: given },
    })),
  )
}

function listSpellings(name: string): string[] {
  const bare = removePrefix(name)
  return bare === undefined ? [name] : [name, bare]
}

/** Where models put the arguments of the target instead of `arguments`. */
const WRAPPERS = ['args', 'input', 'params', 'parameters']

/** Parameters of the wrapper, and `wait_for_previous`, which Gemini CLI adds to every tool. */
const NOT_ARGUMENTS: ReadonlySet<string> = new Set(['name', 'load', 'wait_for_previous'])

/** True if the arguments of the target are under another name or next to `name`. */
function lacksArguments(input: Asked['input']): boolean {
  return input.arguments === undefined && Object.keys(input).some((key) => !NOT_ARGUMENTS.has(key))
}

/** Lists the values that may be the arguments of the target. */
function listArguments(input: Asked['input']): readonly unknown[] {
  if (!lacksArguments(input)) return [input.arguments]
  const flat = Object.fromEntries(Object.entries(input).filter(([key]) => !NOT_ARGUMENTS.has(key)))
  const [only = '', ...others] = Object.keys(flat)
  return others.length === 0 && WRAPPERS.includes(only) ? [flat[only], flat] : [flat]
}

/** Longest call that an answer repeats. */
const MAX_REPEATED = 4000

function writeCall(name: string, input: Asked['input']): string {
  const whole = safeJson({ name, arguments: input })
  if (whole.length <= MAX_REPEATED) return whole
  const keys = Object.keys(input).map((key) => `${safeJson(key)}: …`)
  return `{"name":${safeJson(name)},"arguments":{${keys.join(', ').slice(0, MAX_REPEATED)}}}`
}

/** Returns the first call that may run. If none may, the answer to the first call whose tool is known, or to the last. */
async function judgeFirst(direct: Direct, calls: readonly DirectCall[]): Promise<DirectVerdict> {
  let best: DirectVerdict | undefined
  for (const call of calls) {
    const verdict = await direct.judge(call)
    if (verdict.kind === 'run') return verdict
    if (!best || (best.kind === 'answer' && isNotKnown(best.outcome))) best = verdict
  }
  if (!best) throw new Error('there is no call to judge')
  return best
}

/** Neither the tool nor, if a server was named, any of its tools is known. */
function isNotKnown(outcome: Outcome): boolean {
  return outcome.kind === 'unknown' || (outcome.kind === 'unavailable' && outcome.tool === '')
}

function describeOutcome(
  outcome: Outcome,
  name: string,
  { catalogue }: View,
  { bridge, tools }: Direct,
): { readonly called: Pick<Called, 'kind' | 'tool' | 'query' | 'found' | 'reason'>; readonly entry?: Entry } {
  if (outcome.kind === 'search') {
    const { query, matches } = outcome.result
    return { called: { kind: 'search', tool: name, query, found: matches.length } }
  }
  // `judge` runs nothing, so it returns no result.
  if (outcome.kind === 'result' || outcome.kind === 'not-recorded')
    return { called: { kind: 'refused', tool: name, reason: 'not-recorded' } }
  // If the wrapper itself was refused, the outcome does not name the target.
  const asked = outcome.asked === '' || outcome.asked === bridge ? name : outcome.asked
  const entry = catalogue.get(outcome.tool) ?? tools().find(({ wireName }) => wireName === asked)
  const tool = entry?.wireName ?? asked
  // The gateway does not track which schemas a caller has read, so the arguments are simply invalid.
  const reason = outcome.kind === 'schema-needed' ? 'invalid' : outcome.kind
  return { called: { kind: 'refused', tool, reason }, ...(entry ? { entry } : {}) }
}

/** Adds the names of the found tools that are approved as read-only, and the instructions of their servers. */
function completeSearch(
  { outcome, text }: Extract<DirectVerdict, { kind: 'answer' }>,
  view: View,
  { read }: OwnTools,
): string {
  if (outcome.kind !== 'search') return text
  const found = outcome.result.matches.flatMap(({ canonicalName }) => {
    const resolution = view.catalogue.resolve(canonicalName, () => true)
    return resolution.kind === 'found' ? [resolution.entry] : []
  })
  const names = found.filter(({ source, tool }) => view.isReadOnly(source, tool.name))
  return [
    text,
    ...(names.length > 0 ? [prompts.readable({ names: names.map(({ wireName }) => wireName), read })] : []),
    ...quoteInstructions(view, new Set(found.map(({ source }) => source))),
  ].join('\n')
}

/** Characters of instructions in one answer, about 2,000 tokens. */
const MAX_INSTRUCTIONS = 8000

function quoteInstructions(view: View, sources: ReadonlySet<string>): string[] {
  const omitted: string[] = []
  let room = MAX_INSTRUCTIONS
  const shown = [...sources].flatMap((name) => {
    const whole = view.instructions(name).trim()
    const source = quote(name, 60)
    if (whole === '') return []
    if (room <= 0) {
      omitted.push(source)
      return []
    }
    const text = truncateText(whole, room)
    room -= text.length
    const missing = whole.length - text.length
    return [prompts.serverInstructions({ source, text: quoteLines(text), missing })]
  })
  return omitted.length > 0 ? [...shown, prompts.instructionsOmitted({ sources: omitted })] : shown
}

/** Undefined if `isAllowed` refused the call before it was sent. */
async function run(
  view: View,
  target: Extract<DirectVerdict, { kind: 'run' }>['target'],
  { optionsFor, currentView, caller: { era }, refused }: Asked,
  isDirect: boolean,
  isAllowed: (() => boolean) | undefined,
): Promise<CallToolResult | undefined> {
  let isRefused = false
  const mayCall = () => {
    isRefused = isAllowed?.() === false
    return !isRefused
  }
  const options = optionsFor(target.source, () => {
    const now = currentView()
    return (
      now.isVisible(target.source, target.name) && (!isAllowed || now.isReadOnly(target.source, target.name))
    )
  })
  try {
    const result = await view.call(target.source, target.name, target.input, {
      ...options,
      ...(isAllowed ? { mayCall } : {}),
    })
    return isTooDeep(result)
      ? textResult(view.direct.prompts.failed({ name: target.wireName, error: prompts.tooDeep }), true)
      : nameLinks(removeServerInfo(result), 'content', target.source, view)
  } catch (error) {
    if (!McpFailure.is(error)) throw error
    if (isRefused) return undefined
    if (error.code === ProtocolErrorCode.UrlElicitationRequired) {
      const { elicitation } = options.relay?.capabilities ?? options.caller?.capabilities ?? {}
      // The client opens the URL for the user, also if the model named the tool.
      if (elicitation?.url) throw new ProtocolError(error.code, error.message, error.data)
      if (!isDirect || era === 'modern') {
        refused.add('elicitation/create')
        return textResult(view.direct.prompts.failed({ name: target.wireName, error: error.message }), true)
      }
    }
    // A call by the tool's own name gets the server's JSON-RPC error.
    if (isDirect && error.code !== undefined) throw new ProtocolError(error.code, error.message, error.data)
    return textResult(view.direct.prompts.failed({ name: target.wireName, error: error.message }), true)
  }
}

/** Names the questions that the client could not answer. Undefined stays undefined. */
function addRefusals(
  result: CallToolResult | undefined,
  source: string,
  refused: Asked['refused'],
): CallToolResult | undefined {
  if (!result || refused.size === 0) return result
  const text = prompts.questionRefused({ server: quote(source, 60), methods: [...refused] })
  return { ...result, content: [...result.content, { type: 'text', text }] }
}

/** Removes the name of the upstream server: the client talks to the gateway. */
export function removeServerInfo<T extends Result>(result: T): T {
  const { _meta: meta } = result
  if (!meta || !Object.hasOwn(meta, SERVER_INFO_META_KEY)) return result
  const { [SERVER_INFO_META_KEY]: _, ...rest } = meta
  const { _meta: __, ...others } = result
  return (Object.keys(rest).length === 0 ? others : { ...others, _meta: rest }) as T
}

function textResult(text: string, isError: boolean): CallToolResult {
  return { content: [{ type: 'text', text }], ...(isError ? { isError } : {}) }
}

export function callerFolder({ workspace = homedir() }: Caller): string {
  return workspace
}

/** Replaces `${workspaceFolder}` in definitions with the caller's folder. */
export function insertCallerFolder<T>(folder: string, { hasFolderNames }: View, value: T): T {
  return hasFolderNames ? insertFolder(value, folder) : value
}

/** The same for text that contains definitions as JSON. */
function insertFolderInText(folder: string, view: View, text: string): string {
  return insertCallerFolder(JSON.stringify(folder).slice(1, -1), view, text)
}

export interface WithoutFolder<T> {
  /** The input with `${workspaceFolder}` for the folder, as schemas expect it. */
  readonly value: T
  /** Puts the folder back before the call is sent. */
  restore(value: Readonly<Record<string, unknown>>): Record<string, unknown>
}

/** Replaces the caller's folder with `${workspaceFolder}`. */
function removeFolder<T>(folder: string, { hasFolderNames }: View, value: T): WithoutFolder<T> {
  const heard = hasFolderNames ? replaceFolder(value, folder) : undefined
  return heard === undefined
    ? { value, restore: (input) => input }
    : { value: heard, restore: (input) => insertFolder(input, folder) }
}

/** JSON.stringify is recursive and overflows on deeper results. Many clients fail not far above this depth. */
const DEEPEST = 1000

export function isTooDeep(result: object): boolean {
  let level: readonly object[] = [result]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return true
    const next: object[] = []
    for (const each of level)
      for (const value of Object.values(each))
        if (typeof value === 'object' && value !== null) next.push(value)
    level = next
  }
  return false
}
