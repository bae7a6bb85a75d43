/** The end may come while a server is being reached: it is waited for, and it comes. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defineServer } from '@toolwell/mcp'
import { expect, it, onTestFinished } from 'vitest'
import { setup } from './support/setup.js'

it.each(['auto', 'http', 'sse'] as const)('while a server of type %s does not answer', async (type) => {
  let arrived: () => void = () => undefined
  const request = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const listener = createServer(() => arrived())
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    listener.closeAllConnections()
    listener.close()
  })
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`
  const { servers } = await setup([defineServer('silent', { url, type })], {
    wait: false,
    connectTimeout: 600_000,
  })
  const call = servers.call('silent', 'any', {}).catch((error: Error) => error.name)
  await request
  await servers.close()
  expect(await call).toBe('McpFailure')
})
