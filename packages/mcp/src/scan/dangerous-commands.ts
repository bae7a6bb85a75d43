/** Commands that open or destroy the machine, as orders and as values. */
import { bit } from './concepts.js'
import { REFUSES } from './handover.js'
import { has, orderOf, speaksOfAttacks } from './sentence-tests.js'
import { isSummary, type Judge } from './suspicion.js'

const COMMANDS: readonly (readonly [RegExp, string])[] = [
  [
    /\b(?:curl|wget|iwr|irm|invoke-webrequest)\b[^\n|;]{0,200}\|\s{0,5}(?:sudo )?(?:ba|z|da|k)?sh\b|\b(?:curl|wget)\b[^\n|;]{0,200}\|\s{0,5}(?:python3?|perl|node|ruby)\b|\biex\b[^\n]{0,20}(?:iwr|irm|downloadstring)/i,
    'downloads a script and runs it',
  ],
  [/\b(?:ba)?sh\s{0,3}(?:-c)?\s{0,3}["'`<(]{0,3}\$?\(?(?:curl|wget)\b/i, 'downloads a script and runs it'],
  [
    /\brm\s{1,3}-[a-z]{0,4}r[a-z]{0,4}\s{1,3}(?:--no-preserve-root\s{1,3})?(?:["'])?(?:~|\/(?:\s|\*|$|["'`])|\$home|\*|\.(?:\/|\s|$))|\bmkfs\.|\bdd if=\/dev\/(?:zero|random)|:\(\)\s?\{\s?:\|:&/i,
    'destroys files',
  ],
  [
    /\b(?:nc|ncat|netcat)\b[^\n]{0,60}\s-e\b|\/dev\/tcp\/|\bsocat\b[^\n]{0,60}exec/i,
    'opens a shell to the outside',
  ],
  [
    /\bbase64\s{1,3}(?:-d|--decode)\b[^\n]{0,60}\|\s{0,5}(?:ba|z)?sh\b|\bpowershell(?:\.exe)?\b[^\n]{0,60}\s-e(?:nc|ncodedcommand)\b|\beval\s{0,2}\(?\s{0,2}["'`]?\$?\(?(?:curl|base64|echo)/i,
    'runs an encoded command',
  ],
  [
    />>?\s{0,3}~?\/?[\w./~$-]{0,40}(?:authorized_keys|\.bashrc|\.zshrc|\.profile|crontab)\b|\bcrontab\s{1,3}-/i,
    'makes itself permanent on the machine',
  ],
  [
    /\bchmod\s{1,3}(?:-r\s{1,3})?[0o]{0,2}777\s{1,3}[~/]|\bchmod\s{1,3}u?\+s\b|\bsetenforce 0\b|\bufw disable\b|\bcsrutil disable\b/i,
    'weakens the machine',
  ],
  [
    /\b(?:env|printenv|cat\s{1,3}[~/$][\w./~$-]{1,60})\s{0,3}\|\s{0,3}(?:curl|nc|wget|base64)\b|\bcurl\b[^\n]{0,120}\s(?:-d|--data\S{0,8}|-f|-t|--upload-file)\s{1,3}["']?@?[^\s]{0,40}(?:\$\(|`|@[~/.])/i,
    'sends files or the environment away',
  ],
]

/** Commands that open the machine, wherever they stand. */
export function dangerousCommand(text: string): string | undefined {
  for (const [pattern, what] of COMMANDS) if (pattern.test(text)) return what
  return undefined
}

export const dangerJudge: Judge = (sentence, setting) => {
  const what = dangerousCommand(sentence.text)
  if (what !== undefined) {
    if (speaksOfAttacks(sentence, orderOf(sentence, bit.run | bit.put)) || REFUSES.test(sentence.folded))
      return { rule: 'dangerous-command', weight: 0.5, why: `names a command that ${what}` }
    const isOrdered =
      orderOf(sentence, bit.run | bit.put | bit.when) >= 0 || has(sentence, bit.force | bit.model)
    return { rule: 'dangerous-command', weight: isOrdered ? 3 : 2, why: `gives a command that ${what}` }
  }
  if (isSummary(sentence, setting)) return undefined
  if (
    /\b(?:once|when(?:ever)?|after|if|as soon as|before|on)\b[^.]{0,60}[,:] (?:\w+ )?(?:delete|remove|wipe|erase|drop|format|destroy|overwrite|purge|reset) (?:the |all |every |their |its )?(?:\w+ ){0,2}(?:project|workspace|repositor\w+|home|database|databases|backups?|logs|disk|drive|history|files)\b/.test(
      sentence.folded,
    ) &&
    (has(sentence, bit.hide) ||
      /\b(?:project|workspace|repositor\w+|home|disk|drive)\b/.test(sentence.folded)) &&
    !setting.isParameter
  )
    return {
      rule: 'dangerous-command',
      weight: has(sentence, bit.hide) ? 2.5 : 2,
      why: 'tells the model to destroy files',
    }
  if (
    /\b(?:disable|turn off|deactivate|switch off|stop|(?:turn|switch|shut)(?= [^.]{3,40} (?:off|down)\b))\b[^.]{0,40}\b(?:firewall|antivirus|anti-virus|defender|selinux|sandbox(?:ing)?|audit(?:ing)? log|security (?:checks?|controls?|scann\w+)|2fa|mfa|logging)\b/.test(
      sentence.folded,
    ) &&
    (orderOf(sentence, bit.ignore | bit.negation) >= 0 ||
      /^(?:please )?(?:turn|switch|shut)\b/.test(sentence.folded)) &&
    has(sentence, bit.force | bit.when | bit.model)
  )
    return { rule: 'dangerous-command', weight: 2.5, why: 'tells the model to switch off a protection' }
  return undefined
}
