/** What is left of the heap when all garbage is gone. References that are weak hold until the turn of the loop is over. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

export async function collectGarbage(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
  return process.memoryUsage().heapUsed
}
