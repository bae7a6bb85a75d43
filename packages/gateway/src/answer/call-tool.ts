/** One call from the name and arguments a client sent to the result it gets. The target is judged on every path. */
import { ProtocolError, ProtocolErrorCode, SERVER_INFO_META_KEY } from '@modelcontextprotocol/server'
import type { DirectVerdict, Outcome } from '@toolwell/core'
import { type Caller, McpFailure, type Progress } from '@toolwell/mcp'
import { WORKSPACE_HEADER } from '../bridge/protocol.js'
import { prompts, READ_NAME } from '../prompts.js'
import type { CallToolResult } from '../room/hall.js'
import type { Room } from '../room/room.js'
import { folderOf, heardIn, saidIn } from './in-folder.js'
import { isTooDeep } from './is-too-deep.js'

export interface Asked {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly caller: Caller
  readonly workspace: string | undefined
  readonly signal: AbortSignal
  readonly onProgress?: (progress: Progress) => void
}

/** What became of a call, for whoever watches: the tool that ran, never a wrapper. */
export interface Called {
  readonly kind: 'search' | 'run' | 'refused'
  /** The tool that ran, by its name here; where none did, the one that was asked for. */
  readonly tool: string
  /** What was searched for. */
  readonly query?: string
  /** Tools that the search answered with. */
  readonly found?: number
  /** Why it was not run. Never with arguments. */
  readonly reason?: NotRun
  readonly isError: boolean
  /** Characters of the answer, where it is ours. */
  readonly characters: number
}

export type NotRun =
  | Exclude<Outcome['kind'], 'search' | 'result' | 'schema-needed'>
  | 'not-read-only'
  | 'no-folder'

export async function callTool(
  room: Room,
  asked: Asked,
  onCalled: (called: Called) => void,
): Promise<CallToolResult> {
  const { face } = room
  const { name, input } = asked
  const isRead = name === READ_NAME
  const folder = folderOf(asked.caller)
  const heard = heardIn(folder, room, input)
  const call = { name: isRead ? face.bridge : name, input: heard.value }
  let verdict = await face.judge(call)
  if (verdict.kind === 'answer' && isNotKnown(verdict.outcome)) {
    // Its server may be about to say what it has.
    const { revision } = room.catalogue
    await room.settled()
    if (room.catalogue.revision !== revision) verdict = await face.judge(call)
  }
  if (verdict.kind === 'answer') {
    const isSearch = verdict.outcome.kind === 'search'
    const isDirect = !isRead && name !== face.bridge && name !== face.loader
    if (isDirect && verdict.outcome.kind === 'unknown')
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, verdict.text)
    const text = saidIn(folder, room, isSearch ? withReadable(verdict, room) : verdict.text)
    onCalled({
      ...factsOf(verdict.outcome, name, room),
      isError: !isSearch,
      characters: text.length,
    })
    return textResult(text, !isSearch)
  }
  const target = { ...verdict.target, input: heard.back(verdict.target.input) }
  const { wireName: tool } = target
  const refuse = (reason: NotRun, text: string): CallToolResult => {
    onCalled({ kind: 'refused', tool, reason, isError: true, characters: text.length })
    return textResult(text, true)
  }
  const isReadable = () => room.isReadOnly(target.source, target.name)
  const refuseToRead = () => refuse('not-read-only', prompts.notReadOnly({ name: tool, bridge: face.bridge }))
  if (isRead && !isReadable()) return refuseToRead()
  if (asked.workspace === undefined && room.namesFolder(target.source)) {
    const state = prompts.needsWorkspace({ header: WORKSPACE_HEADER })
    return refuse('no-folder', face.prompts.unavailable({ name: tool, state }))
  }
  const isDirect = !isRead && name !== face.bridge
  const result = await run(room, target, asked, isDirect, isRead ? isReadable : undefined)
  // It has changed since it was approved, which showed when its server was started.
  if (result === undefined) return refuseToRead()
  onCalled({ kind: 'run', tool, isError: result.isError === true, characters: 0 })
  return result
}

/** No tool is known by the name that was asked for, and none of its server, where it names one. */
function isNotKnown(outcome: Outcome): boolean {
  return outcome.kind === 'unknown' || (outcome.kind === 'unavailable' && outcome.tool === '')
}

function factsOf(
  outcome: Outcome,
  name: string,
  { catalogue }: Room,
): Pick<Called, 'kind' | 'tool' | 'query' | 'found' | 'reason'> {
  if (outcome.kind === 'search')
    return { kind: 'search', tool: name, query: outcome.result.query, found: outcome.result.matches.length }
  // Nothing is run by a verdict, so there is no result to tell of.
  if (outcome.kind === 'result' || outcome.kind === 'not-recorded')
    return { kind: 'refused', tool: name, reason: 'not-recorded' }
  const tool = catalogue.get(outcome.tool)?.wireName ?? (outcome.asked || name)
  // Nothing is kept of what a caller has read: there is only whether the arguments fit.
  return { kind: 'refused', tool, reason: outcome.kind === 'schema-needed' ? 'invalid' : outcome.kind }
}

/** Behind what was found: what of it may be called without asking for more. */
function withReadable({ outcome, text }: Extract<DirectVerdict, { kind: 'answer' }>, room: Room): string {
  if (outcome.kind !== 'search') return text
  const names = outcome.result.matches.flatMap(({ canonicalName }) => {
    const found = room.catalogue.resolve(canonicalName, () => true)
    return found.kind === 'found' && room.isReadOnly(found.entry.source, found.entry.tool.name)
      ? [canonicalName]
      : []
  })
  return names.length === 0 ? text : `${text}\n${prompts.readable({ names })}`
}

/** Undefined where it may not be called after all, and was not. */
async function run(
  room: Room,
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
    const result = await room.call(target.source, target.name, target.input, {
      caller,
      signal,
      ...(onProgress ? { onProgress } : {}),
      ...(isAllowed ? { mayCall } : {}),
    })
    return isTooDeep(result)
      ? textResult(room.face.prompts.failed({ name: target.wireName, error: prompts.tooDeep }), true)
      : withoutServerInfo(result)
  } catch (error) {
    if (!McpFailure.is(error)) throw error
    if (isRefused) return undefined
    // Whoever called the tool by its own name gets what the server answered, in the words of the protocol.
    if (isDirect && error.code !== undefined) throw new ProtocolError(error.code, error.message, error.data)
    return textResult(room.face.prompts.failed({ name: target.wireName, error: error.message }), true)
  }
}

/** Who answers is this gateway; everything else of a result is passed on as it is. */
function withoutServerInfo(result: CallToolResult): CallToolResult {
  const { _meta: meta } = result
  if (!meta || !Object.hasOwn(meta, SERVER_INFO_META_KEY)) return result
  const { [SERVER_INFO_META_KEY]: _, ...rest } = meta
  const { _meta: __, ...others } = result
  return (Object.keys(rest).length === 0 ? others : { ...others, _meta: rest }) as CallToolResult
}

function textResult(text: string, isError: boolean): CallToolResult {
  return { content: [{ type: 'text', text }], ...(isError ? { isError } : {}) }
}
