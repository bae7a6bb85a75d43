/** One call from the name and arguments a client sent to the result it gets. The target is judged on every path. */
import { ProtocolError, ProtocolErrorCode, SERVER_INFO_META_KEY } from '@modelcontextprotocol/server'
import type { FaceVerdict } from '@toolwell/core'
import { type Caller, McpFailure, type Progress } from '@toolwell/mcp'
import { prompts, READ_NAME } from '../prompts.js'
import type { CallToolResult } from '../room/hall.js'
import type { Room } from '../room/room.js'

export interface Asked {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly caller: Caller
  readonly signal: AbortSignal
  readonly onProgress?: (progress: Progress) => void
}

/** What became of a call, for whoever watches: the tool that ran, never a wrapper. */
export interface Called {
  readonly kind: 'search' | 'run' | 'refused'
  /** The tool that ran, by its name here. */
  readonly tool: string
  readonly isError: boolean
  /** Characters of the answer, where it is ours. */
  readonly characters: number
}

export async function callTool(
  room: Room,
  asked: Asked,
  onCalled: (called: Called) => void,
): Promise<CallToolResult> {
  const { face } = room
  const { name, input } = asked
  const isRead = name === READ_NAME
  const call = { name: isRead ? face.bridge : name, input }
  let verdict = await face.judge(call)
  if (verdict.kind === 'answer' && verdict.outcome.kind === 'unknown') {
    // Its server may be about to say what it has.
    await room.settled()
    verdict = await face.judge(call)
  }
  if (verdict.kind === 'answer') {
    const isSearch = verdict.outcome.kind === 'search'
    const isDirect = !isRead && name !== face.bridge && name !== face.loader
    if (isDirect && verdict.outcome.kind === 'unknown')
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, verdict.text)
    const text = isSearch ? withReadable(verdict, room) : verdict.text
    onCalled({
      kind: isSearch ? 'search' : 'refused',
      tool: name,
      isError: !isSearch,
      characters: text.length,
    })
    return textResult(text, !isSearch)
  }
  const { target } = verdict
  if (isRead && !room.isReadOnly(target.source, target.name)) {
    const text = prompts.notReadOnly({ name: target.wireName, bridge: face.bridge })
    onCalled({ kind: 'refused', tool: target.wireName, isError: true, characters: text.length })
    return textResult(text, true)
  }
  const result = await run(room, target, asked)
  onCalled({ kind: 'run', tool: target.wireName, isError: result.isError === true, characters: 0 })
  return result
}

/** Behind what was found: what of it may be called without asking for more. */
function withReadable({ outcome, text }: Extract<FaceVerdict, { kind: 'answer' }>, room: Room): string {
  if (outcome.kind !== 'search') return text
  const names = outcome.result.matches.flatMap(({ canonicalName }) => {
    const found = room.catalogue.resolve(canonicalName, () => true)
    return found.kind === 'found' && room.isReadOnly(found.entry.source, found.entry.tool.name)
      ? [canonicalName]
      : []
  })
  return names.length === 0 ? text : `${text}\n${prompts.readable({ names })}`
}

async function run(
  room: Room,
  target: Extract<FaceVerdict, { kind: 'run' }>['target'],
  { caller, signal, onProgress }: Asked,
): Promise<CallToolResult> {
  try {
    const result = await room.call(target.source, target.name, target.input, {
      caller,
      signal,
      ...(onProgress ? { onProgress } : {}),
    })
    return withoutServerInfo(result)
  } catch (error) {
    if (!McpFailure.is(error)) throw error
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
