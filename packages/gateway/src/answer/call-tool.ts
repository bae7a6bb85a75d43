/** Handles one call, from the name and arguments of the client to its result. Every call is judged. */
import { homedir } from 'node:os'
import { ProtocolError, ProtocolErrorCode, SERVER_INFO_META_KEY } from '@modelcontextprotocol/server'
import type { DirectVerdict, Outcome } from '@toolwell/core'
import { type Caller, McpFailure, type Progress } from '@toolwell/mcp'
import { insertFolder, replaceFolder } from '@toolwell/mcp/internal'
import { WORKSPACE_HEADER } from '../bridge/protocol.js'
import { prompts, READ_NAME } from '../prompts.js'
import type { CallToolResult } from '../servers/server-set.js'
import type { View } from '../servers/view.js'

export interface Asked {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly caller: Caller
  readonly workspace: string | undefined
  readonly signal: AbortSignal
  readonly onProgress?: (progress: Progress) => void
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
}

export type NotRun =
  | Exclude<Outcome['kind'], 'search' | 'result' | 'schema-needed'>
  | 'not-read-only'
  | 'no-folder'

export async function callTool(
  view: View,
  asked: Asked,
  onCalled: (called: Called) => void,
): Promise<CallToolResult> {
  const { direct } = view
  const { name, input } = asked
  const isRead = name === READ_NAME
  const folder = callerFolder(asked.caller)
  const heard = removeFolder(folder, view, input)
  if (name === direct.loader) await view.waitBeforeListing()
  const call = { name: isRead ? direct.bridge : name, input: heard.value }
  let verdict = await direct.judge(call)
  if (verdict.kind === 'answer' && isNotKnown(verdict.outcome)) {
    // The server may be about to list its tools.
    const { revision } = view.catalogue
    await view.settled()
    if (view.catalogue.revision !== revision) verdict = await direct.judge(call)
  }
  if (verdict.kind === 'answer') {
    const isSearch = verdict.outcome.kind === 'search'
    const isDirect = !isRead && name !== direct.bridge && name !== direct.loader
    if (isDirect && verdict.outcome.kind === 'unknown')
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, verdict.text)
    const text = insertFolderInText(folder, view, isSearch ? appendReadable(verdict, view) : verdict.text)
    onCalled({
      ...describeOutcome(verdict.outcome, name, view),
      isError: !isSearch,
      characters: text.length,
    })
    return textResult(text, !isSearch)
  }
  const target = { ...verdict.target, input: heard.restore(verdict.target.input) }
  const { wireName: tool } = target
  const refuse = (reason: NotRun, text: string): CallToolResult => {
    onCalled({ kind: 'refused', tool, reason, isError: true, characters: text.length })
    return textResult(text, true)
  }
  const isReadable = () => view.isReadOnly(target.source, target.name)
  const refuseToRead = () =>
    refuse('not-read-only', prompts.notReadOnly({ name: tool, bridge: direct.bridge }))
  if (isRead && !isReadable()) return refuseToRead()
  if (asked.workspace === undefined && view.namesFolder(target.source)) {
    const state = prompts.needsWorkspace({ header: WORKSPACE_HEADER })
    return refuse('no-folder', direct.prompts.unavailable({ name: tool, state }))
  }
  const isDirect = !isRead && name !== direct.bridge
  const result = await run(view, target, asked, isDirect, isRead ? isReadable : undefined)
  // The definition changed after the approval, as the start of its server showed.
  if (result === undefined) return refuseToRead()
  onCalled({ kind: 'run', tool, isError: result.isError === true, characters: 0 })
  return result
}

/** Neither the tool nor, if a server was named, any of its tools is known. */
function isNotKnown(outcome: Outcome): boolean {
  return outcome.kind === 'unknown' || (outcome.kind === 'unavailable' && outcome.tool === '')
}

function describeOutcome(
  outcome: Outcome,
  name: string,
  { catalogue }: View,
): Pick<Called, 'kind' | 'tool' | 'query' | 'found' | 'reason'> {
  if (outcome.kind === 'search')
    return { kind: 'search', tool: name, query: outcome.result.query, found: outcome.result.matches.length }
  // `judge` runs nothing, so it returns no result.
  if (outcome.kind === 'result' || outcome.kind === 'not-recorded')
    return { kind: 'refused', tool: name, reason: 'not-recorded' }
  const tool = catalogue.get(outcome.tool)?.wireName ?? (outcome.asked || name)
  // The gateway does not track which schemas a caller has read, so the arguments are simply invalid.
  return { kind: 'refused', tool, reason: outcome.kind === 'schema-needed' ? 'invalid' : outcome.kind }
}

/** Adds the names of the found tools that are approved as read-only. */
function appendReadable({ outcome, text }: Extract<DirectVerdict, { kind: 'answer' }>, view: View): string {
  if (outcome.kind !== 'search') return text
  const names = outcome.result.matches.flatMap(({ canonicalName }) => {
    const found = view.catalogue.resolve(canonicalName, () => true)
    return found.kind === 'found' && view.isReadOnly(found.entry.source, found.entry.tool.name)
      ? [canonicalName]
      : []
  })
  return names.length === 0 ? text : `${text}\n${prompts.readable({ names })}`
}

/** Undefined if `isAllowed` refused the call before it was sent. */
async function run(
  view: View,
  target: Extract<DirectVerdict, { kind: 'run' }>['target'],
  { caller, signal, onProgress }: Asked,
  isDirect: boolean,
  isAllowed: (() => boolean) | undefined,
): Promise<CallToolResult | undefined> {
  let isRefused = false
  const mayCall = () => {
    isRefused = isAllowed?.() === false
    return !isRefused
  }
  try {
    const result = await view.call(target.source, target.name, target.input, {
      caller,
      signal,
      ...(onProgress ? { onProgress } : {}),
      ...(isAllowed ? { mayCall } : {}),
    })
    return isTooDeep(result)
      ? textResult(view.direct.prompts.failed({ name: target.wireName, error: prompts.tooDeep }), true)
      : removeServerInfo(result)
  } catch (error) {
    if (!McpFailure.is(error)) throw error
    if (isRefused) return undefined
    // A call by the tool's own name gets the server's JSON-RPC error.
    if (isDirect && error.code !== undefined) throw new ProtocolError(error.code, error.message, error.data)
    return textResult(view.direct.prompts.failed({ name: target.wireName, error: error.message }), true)
  }
}

/** Removes the name of the upstream server: the client talks to the gateway. */
function removeServerInfo(result: CallToolResult): CallToolResult {
  const { _meta: meta } = result
  if (!meta || !Object.hasOwn(meta, SERVER_INFO_META_KEY)) return result
  const { [SERVER_INFO_META_KEY]: _, ...rest } = meta
  const { _meta: __, ...others } = result
  return (Object.keys(rest).length === 0 ? others : { ...others, _meta: rest }) as CallToolResult
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

function isTooDeep(result: object): boolean {
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
