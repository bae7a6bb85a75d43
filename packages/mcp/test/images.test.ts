/** An image of a real server reaches the model: the bytes of the next request hold it, on every wire and through the AI SDK. */
import { existsSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { createToolwell, type Toolwell } from '@toolwell/core'
import { connectServers, defineServer, memoryFirstUse, type ServerConfig } from '@toolwell/mcp'
import type { ScriptedReply } from '@toolwell/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { someOf } from '../../../test/setup/tier.js'
import { startHost, type WireName } from '../../core/test/ai-sdk/support.js'
import type { WireHarness } from '../../core/test/support/wire-harness.js'
import { anthropicHarness } from '../../core/test/support/wires/anthropic.js'
import { googleHarness } from '../../core/test/support/wires/google.js'
import { openaiChatHarness } from '../../core/test/support/wires/openai-chat.js'
import { openaiResponsesHarness } from '../../core/test/support/wires/openai-responses.js'
import { realServer } from './support/real-servers.js'
import { temporary } from './support/temporary.js'

const done: ScriptedReply = { text: 'Done.' }
type Calls = readonly { readonly name: string; readonly arguments: object }[]

/** The images of a request, in base64, wherever the wire has them. */
function imagesIn(raw: string): string[] {
  const found: string[] = []
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { type, source, image_url: url, inlineData } = value as Record<string, unknown>
    if (type === 'image') found.push(String((source as { data?: string }).data))
    if (type === 'input_image') found.push(String(url).replace(/^data:image\/\w+;base64,/, ''))
    if (inlineData) found.push(String((inlineData as { data?: string }).data))
    for (const each of Object.values(value)) walk(each)
  }
  walk(JSON.parse(raw))
  return found
}

/** Where each image begins: as a PNG or a JPEG. */
const isImage = (base64: string) => /^(?:iVBORw0KGgo|\/9j\/)/.test(base64)

async function connected(well: Toolwell, config: ServerConfig): Promise<void> {
  const servers = connectServers(well.catalogue, [config], { firstUse: memoryFirstUse(), logs: false })
  onTestFinished(() => servers.close())
  expect(await servers.settled(100_000)).toEqual([])
}

const wires: readonly (readonly [WireHarness, images: boolean])[] = [
  [anthropicHarness, true],
  [openaiResponsesHarness, true],
  [googleHarness, true],
  [openaiChatHarness, false],
]
const sdkWires: readonly WireName[] = ['anthropic', 'responses', 'google', 'chat']

/** Plays the calls on every wire, and looks at the last request of each. */
async function overWires(config: () => ServerConfig, calls: Calls, some = wires): Promise<void> {
  const script: readonly ScriptedReply[] = [...calls.map((call) => ({ calls: [call] })), done]
  for (const [harness, images] of some) {
    let ready: Promise<void> | undefined
    const host = await harness.open({ mode: 'on' }, script, {
      prepare: (well) => {
        ready = connected(well, config())
      },
    })
    await ready
    expect(await host.ask('Show me.'), harness.name).toBe('Done.')
    check(host.requests.at(-1)?.raw ?? '', images)
  }
  for (const major of [6, 7] as const)
    for (const wire of someOf(sdkWires, major)) {
      const well = createToolwell({ mode: 'on' })
      await connected(well, config())
      const host = await startHost({ major, wire, script, well })
      expect((await host.ask('Show me.')).text, `AI SDK ${major}, ${wire}`).toBe('Done.')
      check(host.raw(-1), wire !== 'chat')
    }
}

function check(raw: string, images: boolean): void {
  const found = imagesIn(raw)
  expect(found.length).toBe(images ? 1 : 0)
  expect(found.every(isImage)).toBe(true)
  if (images) expect(raw).not.toContain('not shown')
  else
    expect(raw).toMatch(
      /\[image image\/(?:png|jpeg), \d+x\d+, \d+ kB, not shown: this API does not accept it/,
    )
}

describe('an image', () => {
  it('of the server "everything" reaches the model', { timeout: 200_000 }, async () => {
    await overWires(
      () => realServer('everything', [], { alwaysLoad: ['*image*'] }),
      [{ name: 'everything__get-tiny-image', arguments: {} }],
    )
  })
})

/** Debian's package has it there; the tests install no browser. */
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)

describe('a screenshot', () => {
  it.skipIf(CHROMIUM === undefined)(
    `of a real browser reaches the model${CHROMIUM === undefined ? ' (skipped: no Chromium in /usr/bin; apt-get install chromium)' : ''}`,
    { timeout: 600_000 },
    async () => {
      const page = createServer((_request, response) => {
        response.setHeader('content-type', 'text/html')
        response.end('<h1 style="color: teal">Seen by a model</h1>')
      })
      await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => void page.close())
      const url = `http://127.0.0.1:${(page.address() as AddressInfo).port}/`
      const folder = temporary()
      let count = 0
      await overWires(
        () => browserServer(join(folder, String(count++))),
        [
          { name: 'browser__browser_navigate', arguments: { url } },
          { name: 'browser__browser_take_screenshot', arguments: { scale: 'css' } },
        ],
        // The tiny image has been over all of them.
        someOf(wires, 1),
      )
    },
  )
})

function browserServer(folder: string): ServerConfig {
  mkdirSync(folder)
  const manifest = createRequire(import.meta.url).resolve('@playwright/mcp/package.json')
  const args = [join(dirname(manifest), 'cli.js'), '--headless', '--isolated', '--no-sandbox']
  const where = ['--executable-path', CHROMIUM ?? '', '--output-dir', folder]
  return defineServer(
    'browser',
    { command: process.execPath, args: [...args, ...where], cwd: folder },
    { alwaysLoad: ['browser_navigate', 'browser_take_screenshot'] },
  )
}
