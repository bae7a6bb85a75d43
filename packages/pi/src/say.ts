/** A line for the person: where pi has no screen it drops them, so there they go to standard error. */
import type { Context } from './pi.js'

export function say({ hasUI, ui }: Context, text: string, kind: 'info' | 'warning' | 'error' = 'info'): void {
  if (hasUI) ui.notify(text, kind)
  else process.stderr.write(`${text}\n`)
}
