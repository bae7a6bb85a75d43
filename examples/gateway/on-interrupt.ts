/** Ctrl-C and its like: the first asks for an end, which comes soon; a second one does not wait for it. */

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Milliseconds in which a terminal, a shell and a parent all pass on the same Ctrl-C. */
const ONE = 750
/** Milliseconds for what is asked to end. Who takes longer is ended. */
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
