/** Starts programs that share one login. They are gone after the test. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const program = fileURLToPath(new URL('login-host.mjs', import.meta.url))

export async function startLoginHost(url: string, folder: string): Promise<{ calls(): Promise<string[]> }> {
  const child = spawn(process.execPath, [program, url, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    child.stdin.end()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const line = async () => String((await lines.next()).value)
  await line()
  return {
    async calls() {
      child.stdin.write('\n')
      return JSON.parse(await line())
    },
  }
}
