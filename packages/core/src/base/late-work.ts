/** Work that is done later: in pieces, where somebody can wait, or all at once, where somebody asks for what it makes. */
import { inPieces } from './pieces.js'

export interface LateWork {
  /** Does what is left; false where it is asked from within the work. Throws what the work threw, each time. */
  finish(): boolean
  /** Does it in pieces, and rejects with what the work threw. */
  inPieces(): Promise<void>
}

/** `steps` gives way after each step. */
export function createLateWork(steps: Generator<void>): LateWork {
  let state: 'waiting' | 'running' | 'done' = 'waiting'
  let failure: { readonly error: unknown } | undefined

  const step = () => {
    state = 'running'
    try {
      state = steps.next().done ? 'done' : 'waiting'
    } catch (error) {
      state = 'done'
      failure = { error }
    }
  }
  function* left(): Generator<void> {
    while (state === 'waiting') yield step()
  }
  const check = () => {
    if (failure) throw failure.error
  }
  return {
    finish() {
      while (state === 'waiting') step()
      check()
      return state === 'done'
    },
    async inPieces() {
      if (state !== 'done') await inPieces(left(), () => undefined)
      check()
    },
  }
}
