/** Handles Ctrl-C: the first one asks for a clean end, the second one does not wait for it. */

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Milliseconds in which terminal, shell and parent pass on the same Ctrl-C. */
const ONE = 750
/** Milliseconds that a process gets to stop before it is killed. */
export const PATIENCE = 1500

export function onInterrupt(ask: (signal: NodeJS.Signals) => void, endAtOnce: () => void): void {
  let first: number | undefined
  for (const signal of SIGNALS)
    process.on(signal, () => {
      if (first === undefined) {
        first = performance.now()
        ask(signal)
      } else if (performance.now() - first > ONE) {
        endAtOnce()
        process.exit(130)
      }
    })
}
