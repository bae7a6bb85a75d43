/** A home of pi that ends with the test. */
import { onTestFinished } from 'vitest'
import { openHome } from './pi-process.ts'

export { type Api, extensionFile, realServers, wires, withSummaries } from './pi-process.ts'

export async function piHome(...given: Parameters<typeof openHome>) {
  const home = await openHome(...given)
  onTestFinished(() => home.close())
  return home
}
