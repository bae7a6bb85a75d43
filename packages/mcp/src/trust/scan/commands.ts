/** Shell commands that open or destroy a machine. */
import { type Finding, finding } from './finding.js'

const COMMANDS: readonly (readonly [what: string, pattern: RegExp])[] = [
  [
    'downloads a script and runs it',
    /\b(?:curl|wget|iwr|irm)\b[^\n|;]{0,200}\|\s{0,5}(?:sudo )?(?:(?:ba|z|da|k)?sh|python3?|perl|node|iex)\b/i,
  ],
  ['downloads a script and runs it', /\b(?:ba)?sh\s{1,3}(?:-c\s{1,3})?["'`<(]{0,3}\$?\(?(?:curl|wget)\b/i],
  [
    'deletes everything',
    /\brm\s{1,3}-[a-z]{0,4}r[a-z]{0,4}\s{1,3}(?:--no-preserve-root\s{1,3})?["']?(?:~|\/(?:\s|\*|$|["'`])|\$home)/i,
  ],
  ['overwrites a disk', /\bmkfs\.\w|\bdd if=\/dev\/(?:zero|random)/i],
  ['opens a shell to the outside', /\b(?:nc|ncat|netcat)\b[^\n]{0,60}\s-e\b|\/dev\/tcp\/\d/i],
  ['runs an encoded command', /\bbase64\s{1,3}(?:-d|--decode)\b[^\n]{0,60}\|\s{0,5}(?:ba|z)?sh\b/i],
  [
    'stays on the machine',
    /(?:>>?|append|add)[^\n]{0,40}(?:authorized_keys|\.bashrc|\.zshrc)\b|\bcrontab\s{1,3}-e\b/i,
  ],
  ['takes protection away', /\bchmod\s{1,3}(?:-r\s{1,3})?0?777\s{1,3}[~/]/i],
]

/** What the first dangerous command in the text does. */
export function commandIn(text: string): string | undefined {
  return COMMANDS.find(([, pattern]) => pattern.test(text))?.[0]
}

export function findCommands(where: string, text: string): Finding[] {
  const what = commandIn(text)
  return what === undefined
    ? []
    : [finding('dangerous-command', 'soft', where, text, `holds a command that ${what}`)]
}
