/** Whether a search can lead to anything. Where it cannot, nothing should advise one. */
import type { Context } from './context.js'

/** A server may still bring what it has not listed, whatever its state; without any, only a deferred tool of the host's own is found. */
export function canFind({ catalogue, gate, exposure }: Context): boolean {
  for (const name of catalogue.sources.keys()) if (name !== '') return true
  for (const entry of catalogue.entries()) if (exposure(entry).deferred && gate.visible(entry)) return true
  return false
}
