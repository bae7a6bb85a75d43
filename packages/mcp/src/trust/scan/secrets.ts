/** Finds keys in well-known formats. Placeholders do not count. */
import { createFinding, type Finding } from './rules.js'

const FORMATS: readonly (readonly [string, RegExp])[] = [
  ['an AWS access key', /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b/],
  ['a GitHub token', /\bgh[pousr]_[A-Za-z0-9]{36,255}\b|\bgithub_pat_[A-Za-z0-9_]{50,255}/],
  ['a GitLab token', /\bgl(?:pat|dt|rt|ptt|oas)-[A-Za-z0-9_-]{20,64}/],
  ['an Anthropic key', /\bsk-ant-[A-Za-z0-9_-]{24,200}/],
  ['an OpenAI key', /\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32,200}/],
  ['a Slack token', /\bxox[abeprs]-[A-Za-z0-9-]{20,200}|\bxapp-\d-[A-Za-z0-9-]{20,200}/],
  ['a Slack webhook', /hooks\.slack\.com\/services\/T[A-Z0-9]{6,12}\/B[A-Z0-9]{6,14}\/[A-Za-z0-9]{16,40}/],
  ['a Discord webhook', /discord(?:app)?\.com\/api\/webhooks\/\d{16,20}\/[\w-]{50,80}/],
  ['a Google API key', /\bAIza[A-Za-z0-9_-]{35}/],
  ['a Google OAuth token', /\bya29\.[A-Za-z0-9_-]{30,300}|\bGOCSPX-[A-Za-z0-9_-]{20,40}/],
  ['a Stripe key', /\b(?:sk|rk|whsec)_(?:live|test)?_?[A-Za-z0-9]{24,120}\b/],
  ['an npm token', /\bnpm_[A-Za-z0-9]{36}\b/],
  ['a PyPI token', /\bpypi-[A-Za-z0-9_-]{50,300}/],
  ['a Hugging Face token', /\bhf_[A-Za-z0-9]{30,60}\b/],
  ['a SendGrid key', /\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,64}/],
  ['a Twilio key', /\b(?:SK|AC)[0-9a-f]{32}\b/],
  ['a DigitalOcean token', /\bdo[opr]_v1_[0-9a-f]{64}\b/],
  ['a Shopify token', /\bshp(?:at|ss|ca|pa)_[0-9a-fA-F]{32}\b/],
  ['a Telegram bot token', /\b\d{8,10}:AA[A-Za-z0-9_-]{32,36}\b/],
  [
    'a Databricks, Linear, Notion, Postman or Vault token',
    /\b(?:dapi[0-9a-f]{32}|lin_api_[A-Za-z0-9]{40}|ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43}|PMAK-[0-9a-f]{24}-[0-9a-f]{34}|hvs\.[A-Za-z0-9_-]{24,200})\b/,
  ],
  ['an age key', /\bAGE-SECRET-KEY-1[A-Z0-9]{58}\b/],
  ['a signed token', /\beyJ[A-Za-z0-9_-]{10,300}\.eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{16,2000}/],
  [
    'a private key',
    /-----BEGIN (?:[A-Z]{2,10} ){0,2}PRIVATE KEY(?: BLOCK)?-----[\s\\nr]{0,8}[A-Za-z0-9+/=:\s-]{40}/,
  ],
]

const LOOSE: readonly (readonly [string, RegExp])[] = [
  [
    'a password in an address',
    /\b[a-z][a-z0-9+]{1,15}:\/\/[\w.%-]{1,60}:([^\s:@/"'<>{}$]{6,80})@[\w.-]{3,}/i,
  ],
  [
    'a key or password',
    /\b(?:password|passwd|secret|api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|bearer)\b\s{0,3}(?:[:=]|is)?\s{0,3}["'`]?([A-Za-z0-9+/_=.-]{20,120})/i,
  ],
]

const PLACEHOLDER =
  /x{4,}|\*{3,}|\.{3,}|your|example|placeholder|sample|dummy|redacted|insert|changeme|replace|<|>|123456789|abcdef|test[_-]?key|0{6,}|1{6,}|a{6,}|foobar|fake/i

export function findSecrets(where: string, text: string): Finding[] {
  for (const [name, format] of FORMATS) {
    const match = format.exec(text)
    if (match && isRandom(match[0]))
      return [createFinding('embedded-secret', 'soft', where, masked(match[0]), `seems to contain ${name}`)]
  }
  for (const [name, format] of LOOSE) {
    const match = format.exec(text)
    const value = match?.[1] ?? ''
    if (
      match &&
      isRandom(value) &&
      /\d/.test(value) &&
      /[A-Za-z]/.test(value) &&
      !/^(?:https?|\w+[._-]\w+[._-]\w+$)/.test(value)
    )
      return [createFinding('embedded-secret', 'soft', where, masked(value), `seems to contain ${name}`)]
  }
  return []
}

function isRandom(value: string): boolean {
  return (
    !PLACEHOLDER.test(value) &&
    (entropy(value.replace(/^[A-Za-z]{2,10}[-_]/, '')) > 3 || value.startsWith('-----'))
  )
}

/** Bits per character. Words and patterns stay below 3.5. */
export function entropy(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

/** Shows enough of a secret to find it, but not to use it. */
function masked(value: string): string {
  return `${value.slice(0, 8)}… (${value.length} characters)`
}
