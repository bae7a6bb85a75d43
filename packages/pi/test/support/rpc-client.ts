/** Client for pi's RPC mode: commands in, answers and events out. */
import type { ChildProcess } from 'node:child_process'

export type Said = Readonly<Record<string, unknown>>

export function rpcClient(child: ChildProcess) {
  const all: Said[] = []
  const watchers = new Set<() => void>()
  const note = (said: Said) => {
    all.push(said)
    for (const watcher of watchers) watcher()
  }
  let rest = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('{')) note(JSON.parse(line))
  })
  let isOver = false
  const over = new Promise<void>((resolve) =>
    child.once('close', () => {
      isOver = true
      for (const watcher of watchers) watcher()
      resolve()
    }),
  )

  /** The first matching message since `since`. Fails if pi ends before. */
  const next = (fits: (said: Said) => boolean, since = 0) =>
    new Promise<Said>((resolve, reject) => {
      const look = () => {
        const found = all.slice(since).find(fits)
        if (!found && !isOver) return
        watchers.delete(look)
        if (found) resolve(found)
        else reject(new Error(`pi has ended. It said: ${JSON.stringify(all.slice(-5))}`))
      }
      watchers.add(look)
      look()
    })
  const send = (message: Said) => void child.stdin?.write(`${JSON.stringify(message)}\n`)
  let count = 0
  const command = async (type: string, fields: Said = {}): Promise<Record<string, unknown>> => {
    const id = `command-${++count}`
    send({ id, type, ...fields })
    const answer = await next((said) => said.type === 'response' && said.id === id)
    if (answer.success !== true) throw new Error(`${type}: ${String(answer.error)}`)
    return (answer.data ?? {}) as Record<string, unknown>
  }
  return {
    all,
    next,
    command,
    /** Answers a question of an extension to the user. */
    answer: ({ id }: Said, fields: Said) => send({ type: 'extension_ui_response', id, ...fields }),
    /** Sends a prompt and waits for the end of the agent. */
    async prompt(message: string) {
      const since = all.length
      await command('prompt', { message })
      await next(({ type }) => type === 'agent_end', since)
      // Events after the end are handled before the next command.
      const { text } = await command('get_last_assistant_text')
      return text
    },
    async end() {
      child.stdin?.end()
      await over
    },
  }
}
