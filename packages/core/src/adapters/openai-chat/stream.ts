/** Reads a streamed reply: server-sent events to chunks, chunks to the one assistant message they add up to. */
export { readEvents } from '../shared/sse.js'

export interface StreamedReply {
  readonly message: {
    readonly role: 'assistant'
    readonly content: string | null
    readonly refusal?: string
    tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
  }
  readonly finishReason: string | undefined
  readonly usage: unknown
  /** False where the stream broke off: do not run its calls, ask again with the same request id. */
  readonly complete: boolean
}

interface CallPart {
  readonly index?: number
  readonly id?: string | null
  readonly function?: { readonly name?: string; readonly arguments?: string }
}

interface Chunk {
  readonly choices?: readonly {
    readonly index?: number
    readonly delta?: {
      readonly content?: string | null
      readonly refusal?: string | null
      readonly tool_calls?: readonly CallPart[] | null
    }
    readonly finish_reason?: string | null
  }[]
  readonly usage?: unknown
  readonly error?: unknown
}

/** Adds up chunks, whether parsed here or given by an SDK. A source that fails half-way gives an incomplete reply, not a throw. */
export async function assemble(chunks: AsyncIterable<unknown>): Promise<StreamedReply> {
  let content = ''
  let refusal = ''
  let finishReason: string | undefined
  let usage: unknown
  const calls = collectCalls()
  try {
    for await (const chunk of chunks) {
      const { choices, usage: figures, error } = (chunk ?? {}) as Chunk
      if (error !== undefined && error !== null) throw error
      usage = figures ?? usage
      const choice = choices?.find(({ index = 0 }) => index === 0)
      if (!choice) continue
      content += choice.delta?.content ?? ''
      refusal += choice.delta?.refusal ?? ''
      for (const part of choice.delta?.tool_calls ?? []) calls.add(part)
      finishReason = choice.finish_reason ?? finishReason
    }
    if (finishReason === 'error') finishReason = undefined
  } catch {
    finishReason = undefined
  }
  const made = calls.all.map(({ id, name, text }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: text },
  }))
  return {
    message: {
      role: 'assistant',
      content: content === '' ? null : content,
      ...(refusal === '' ? {} : { refusal }),
      ...(made.length > 0 ? { tool_calls: made } : {}),
    },
    finishReason,
    usage,
    complete: finishReason !== undefined,
  }
}

/** Puts fragments of calls together. Servers differ: some leave the index out, some repeat id and name in every fragment. */
function collectCalls() {
  const all: { id: string; name: string; text: string }[] = []
  const byIndex = new Map<number, (typeof all)[number]>()
  return {
    all,
    add({ index, id, function: part }: CallPart) {
      const known = id ? all.find((call) => call.id === id) : undefined
      const placed = index === undefined ? undefined : byIndex.get(index)
      // A new id at an index that is taken is a new call; a fragment without either goes on with the last one.
      const goesOn =
        known ??
        (id && placed && placed.id !== '' ? undefined : placed) ??
        (id || index !== undefined ? undefined : all.at(-1))
      const call = goesOn ?? { id: '', name: '', text: '' }
      if (!goesOn) all.push(call)
      if (index !== undefined) byIndex.set(index, call)
      if (id) call.id = id
      const name = part?.name ?? ''
      if (name !== call.name) call.name += name
      call.text += part?.arguments ?? ''
    },
  }
}
