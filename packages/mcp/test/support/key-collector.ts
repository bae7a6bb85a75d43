/** An address that answers nothing and notes the header `key` of every request. It is gone after the test. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export async function collectKeys(): Promise<{ readonly url: string; readonly gotten: readonly unknown[] }> {
  const gotten: unknown[] = []
  const remote = createServer(({ headers }, response) => {
    gotten.push(headers.key)
    response.writeHead(400).end()
  })
  await new Promise<void>((resolve) => remote.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void remote.close())
  return { url: `http://127.0.0.1:${(remote.address() as AddressInfo).port}/mcp`, gotten }
}
