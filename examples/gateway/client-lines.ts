/** Lines that connect each client over stdio, so that no token appears in a config, a command line or a process list. */
import { shellWord } from '@toolwell/gateway/bridge'

/** `words`: the program and its arguments. */
export function clientLines(words: readonly [string, ...string[]]): string[] {
  const [command, ...args] = words
  const stdio = words.map((word) => shellWord(word)).join(' ')
  const entry = { command, args }
  return [
    `Claude Code  claude mcp add --scope user toolwell -- ${stdio}`,
    `Codex        codex mcp add toolwell -- ${stdio}`,
    `Cursor       in ~/.cursor/mcp.json: ${JSON.stringify({ mcpServers: { toolwell: entry } })}`,
    `VS Code      code --add-mcp ${shellWord(JSON.stringify({ name: 'toolwell', ...entry }))}`,
    `Gemini CLI   gemini mcp add --scope user toolwell ${stdio}`,
    `Inspector    npx @modelcontextprotocol/inspector -- ${stdio}`,
    `any other    over stdio: ${stdio}`,
    'over HTTP    the URL above, with the header "Authorization: Bearer TOKEN"',
  ]
}

/** Commands that undo those lines. Other clients have no command for it. */
export const REMOVE = [
  'claude mcp remove --scope user toolwell',
  'codex mcp remove toolwell',
  'gemini mcp remove --scope user toolwell',
] as const

/** Printed at the end if a client has connected. */
export const REMOVAL = `To disconnect a client: ${REMOVE.join(', ')}; in Cursor and VS Code, delete "toolwell" from mcp.json.`
