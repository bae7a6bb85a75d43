/** Who has used a server that keeps something for them, and has to hear that it is gone. */
import type { CallToolResult } from '@modelcontextprotocol/client'
import type { Place } from './place.js'

/** Why what a server kept for its caller is gone: nobody used it for a while, it ended by itself, its config changed. */
export type LossReason = 'idle' | 'ended' | 'changed'

/** More are not remembered: the oldest are forgotten. */
const MOST_REMEMBERED = 1000

export class LostState {
  readonly #lost = new Map<string, LossReason>()

  mark({ key }: Place, reason: LossReason): void {
    this.#lost.delete(key)
    this.#lost.set(key, reason)
    const [oldest] = this.#lost.keys()
    if (this.#lost.size > MOST_REMEMBERED && oldest !== undefined) this.#lost.delete(oldest)
  }

  /** The answer to the first call since, with the news at its end: programs read the first part. */
  tell(server: string, { key }: Place, result: CallToolResult): CallToolResult {
    const reason = this.#lost.get(key)
    if (reason === undefined) return result
    this.#lost.delete(key)
    return {
      ...result,
      content: [...(result.content ?? []), { type: 'text', text: newsOf(server, reason) }],
      _meta: { ...result._meta, [STATE_LOST]: reason },
    }
  }
}

/** In `_meta` of the first result after the loss, for programs. */
export const STATE_LOST = 'toolwell/state-lost'

function newsOf(server: string, reason: LossReason): string {
  const why = {
    idle: 'had not been used for a while and was stopped',
    ended: 'ended by itself',
    changed: 'was changed in the config',
  }[reason]
  return `[${server} ${why}; it was started again for this call. What it kept from earlier calls (open pages, sessions, variables) is gone.]`
}
