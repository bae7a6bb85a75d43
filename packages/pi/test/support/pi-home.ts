/** A home of pi that is removed after the test. */
import { afterAll, onTestFinished } from 'vitest'
import { dropCache, openHome } from './pi-process.ts'

export { type Api, extensionFile, realServers, wires, withSummaries } from './pi-process.ts'

// A worker may end without notice.
afterAll(dropCache)

export async function piHome(...given: Parameters<typeof openHome>) {
  const home = await openHome(...given)
  onTestFinished(() => home.close())
  return home
}
