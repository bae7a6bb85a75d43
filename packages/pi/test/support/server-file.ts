/** An MCP server written to a file by the test, with its lists and answers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { onTestFinished } from 'vitest'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const sdk = (file: string) =>
  pathToFileURL(join(root, 'node_modules/@modelcontextprotocol/sdk/dist/esm', file)).href

interface ListedTool {
  readonly name: string
  readonly description: string
  readonly inputSchema?: object
}

/** `answer`: body of a function of `name`, `args` and `requestId` that returns the result. `mark`: a file written at the start. */
export function serverFile(
  tools: readonly ListedTool[],
  {
    mark,
    answer = "return { content: [{ type: 'text', text: 'Hello.' }] }",
  }: { mark?: string; answer?: string } = {},
): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-pi-server-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
    if (mark !== undefined) rmSync(mark, { force: true })
  })
  const file = join(folder, 'server.mjs')
  const listed = tools.map((tool) => ({ inputSchema: { type: 'object', properties: {} }, ...tool }))
  writeFileSync(
    file,
    `import { writeFileSync } from 'node:fs'
import { Server } from ${JSON.stringify(sdk('server/index.js'))}
import { StdioServerTransport } from ${JSON.stringify(sdk('server/stdio.js'))}
import { CallToolRequestSchema, ListToolsRequestSchema } from ${JSON.stringify(sdk('types.js'))}
${mark === undefined ? '' : `writeFileSync(${JSON.stringify(mark)}, '')`}
const server = new Server({ name: 'own', version: '1.0.0' }, { capabilities: { tools: {} } })
server.setRequestHandler(ListToolsRequestSchema, () => (${JSON.stringify({ tools: listed })}))
server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args } }, { requestId }) => { ${answer} })
await server.connect(new StdioServerTransport())
`,
  )
  return file
}
