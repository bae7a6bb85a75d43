/**
 * Hostile text at the greatest length anyone would send finishes in time. Quadratic work does
 * not come to an end here; how time grows is measured by `growth.long.test.ts`.
 */
import { expect, it } from 'vitest'
import { LONG_TEXTS } from './long-texts.js'

it.each(LONG_TEXTS)('takes $name', async ({ prepare, sizes: [, most] }) => {
  const work = await prepare()
  await expect(work(most).then(() => 'done')).resolves.toBe('done')
})
