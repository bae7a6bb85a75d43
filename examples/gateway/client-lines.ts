/** Lines that connect each client over stdio, so that no token appears in a config, a command line or a process list. */
import { shellWord } from '@toolwell/gateway/bridge'

/** `words`: the program and its arguments. Each client is named, so that the gateway applies its permission rules. */
export function clientLines(words: readonly [string, ...string[]]): string[] {
  const [command, ...args] = words
  const stdio = words.map((word) => shellWord(word)).join(' ')
  const named = (client: string) => ({ command, args: [...args, '--client', client] })
  return [
    `Claude Code  claude mcp add --scope user toolwell -- ${stdio} --client claude-code`,
    `Codex        codex mcp add toolwell -- ${stdio} --client codex`,
    `Cursor       in ~/.cursor/mcp.json: ${JSON.stringify({ mcpServers: { toolwell: named('cursor') } })}`,
    `VS Code      code --add-mcp ${shellWord(JSON.stringify({ name: 'toolwell', ...named('vscode') }))}`,
    `Gemini CLI   gemini mcp add --scope user toolwell ${stdio} --client gemini`,
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
