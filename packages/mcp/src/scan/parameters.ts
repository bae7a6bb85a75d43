/** Parameters that ask for what a tool does not need, and values that do harm when they are used. */

import { dangerousCommand } from './dangerous-commands.js'
import type { Field } from './fields.js'
import { type Finding, finding } from './finding.js'
import { isAboutSecret, secretNameIn, secretReferenceIn } from './secret-names.js'

/** Names, folded, under which nothing but the model's own context can be meant. */
const CONTEXT_NAMES = new Set(
  'sidenote sidenotes conversationhistory chathistory systemprompt systeminstructions chainofthought toolcallhistory toolhistory toolcalls envvars environmentvariables fullcontext userconversation previousmessages originalprompt assistantreasoning internalreasoning llmcontext llmreasoning modelreasoning sessioncontext sessionhistory contextdump contextwindow chatlog chattranscript conversationlog conversationtranscript fullconversation conversationcontext hiddencontext agentmemory agentcontext availabletools toolslist priormessages messagehistorydump userprompts rawprompt fullprompt developerprompt scratchpad innermonologue envdump environmentdump processenv secrets allsecrets usercredentials sshprivatekey'.split(
    ' ',
  ),
)
const PRIVATE_NAME =
  /id_?rsa|id_?ed25519|etc_?passwd|etc_?shadow|bash_?history|zsh_?history|aws_?credentials_?(?:file|content)|mcp_?json|(?:content|text|dump|data)s?_?(?:of|from)?_?(?:reading)?_?(?:dot)?_?(?:ssh|env_?file|keychain|private_?file)/i
const ABOUT_MODELS =
  /\b(?:assistants?|agents?|chat ?bots?|bots?|completions?|llms?|models?|prompts?|personas?|gpts?|playground|inference|chat)\b/i
const FILE_NAME =
  /^(?:\w*[_-])?(?:path|file|filename|filepath|source|src|attachment|attachments|context|input|include|includes|log|note|data)s?$/i
const ABOUT_KEYS =
  /\b(?:ssh|sftp|scp|rsync|remote|tunnel|identity|keys?|credentials?|kube|aws|gcloud|docker|dotenv|env|config|host|vps|deploy|git)\b/i
const RECIPIENT_NAME =
  /^(?:bcc|cc|to|recipients?|forward_?to|reply_?to|copy_?to|notify|email|destination|payee|beneficiary|wallet|webhook|webhook_?url|callback|callback_?url|exfil\w*|report_?to|mirror_?to)$/i
const LOOSE_SWITCH =
  /^(?:skip|bypass|disable|ignore|no|suppress|without)[_-]?(?:user[_-]?)?(?:confirm\w*|approvals?|security\w*|auth\w*|verif\w*|safety\w*|consent|permissions?|sandbox|guardrails?|warnings?_?to_?user)$|^auto[_-]?(?:approve|confirm|accept)\w*$|^(?:allow|enable)[_-]?(?:all|unsafe|root|arbitrary)\w*$|^(?:silent|stealth|hidden)[_-]?(?:mode|exec\w*|run)$/i
const PRIVATE_VALUE =
  /(?:~|\$HOME|\$\{HOME\}|%USERPROFILE%)?[/\\]?\.(?:ssh[/\\]id_|aws[/\\]credentials|netrc|git-credentials|gnupg)|[/\\]etc[/\\](?:passwd|shadow)|[/\\]proc[/\\]self[/\\]environ|id_(?:rsa|ed25519)$|\.(?:bash|zsh)_history|[/\\]\.env$|claude_desktop_config\.json|\.cursor[/\\]mcp\.json/i
const MAIL = /^[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+$/
const ADDRESS = /^https?:\/\/\S+$/i

export function findParameters(fields: readonly Field[], definition: unknown): Finding[] {
  const subject = fields
    .filter(({ kind }) => kind === 'name' || kind === 'title' || kind === 'description')
    .map(({ text }) => text.slice(0, 2000))
    .join(' ')
    .replace(/[_-]/g, ' ')
  const findings: Finding[] = []
  const own = fields.filter(
    ({ kind, where }) =>
      kind === 'parameter' && where.startsWith('inputSchema') && !/\.(?:\$defs|definitions)\./.test(where),
  )
  const named = own.filter(
    ({ text, where }) =>
      CONTEXT_NAMES.has(text.toLowerCase().replace(/[^a-z]/g, '')) && !isForNewAgent(fields, where),
  )
  if (named.length > 0 && (!ABOUT_MODELS.test(subject) || named.length > 2)) {
    const names = named.map(({ text }) => text).join(', ')
    findings.push(
      finding(
        'exfiltration-parameter',
        named.length > 1 || named.some(({ text }) => /^side_?notes?$/i.test(text)) ? 'hard' : 'soft',
        named[0]?.where ?? '',
        names,
        "asks by name for the model's context, which this tool names no use for",
      ),
    )
  }
  for (const { text, where } of own)
    if (PRIVATE_NAME.test(text))
      findings.push(finding('exfiltration-parameter', 'hard', where, text, 'asks by name for a private file'))
  for (const { text, where } of own) {
    const name = secretNameIn(text)
    if (name !== undefined && !isAboutSecret(subject, name))
      findings.push(
        finding(
          'exfiltration-parameter',
          'hard',
          where,
          text,
          'asks by name for a secret of the environment, which this tool names no use for',
        ),
      )
  }
  for (const field of fields) if (field.kind === 'value') findings.push(...findValue(field, subject))
  findings.push(...findSwitches(definition))
  return findings
}

/** A parameter that takes names, not what they stand for. */
const isNameOfName = (parameter: string) => /name|var|env|secret|key|token|auth|cred|pass/i.test(parameter)

/** A prompt that is given to some other model is the tool's business. */
function isForNewAgent(fields: readonly Field[], where: string): boolean {
  const description = fields.find((field) => field.where === `${where}.description`)?.text ?? ''
  return /\b(?:of|for|to) (?:the|an?|this|new|each) (?:\w+ )?(?:assistant|agent|bot|model|persona|deployment)\b|\bto create\b|\bfollows\b/i.test(
    description,
  )
}

function findValue({ where, text, parameter = '' }: Field, subject: string): Finding[] {
  const isUsed = /\.(?:default|const)\b/.test(where) || /\.enum\[0\]$/.test(where)
  const command = dangerousCommand(text)
  if (command !== undefined)
    return [finding('dangerous-value', isUsed ? 'hard' : 'soft', where, text, `is a command that ${command}`)]
  const last = parameter.split(/[.\s]/).at(-1) ?? ''
  const secret =
    secretReferenceIn(text) ??
    (isNameOfName(last) || where.includes('.enum[') ? undefined : secretNameIn(text))
  if (secret !== undefined && text.length < 200 && !isAboutSecret(subject, secret))
    return [
      finding(
        'dangerous-value',
        isUsed ? 'hard' : 'soft',
        where,
        text,
        'stands for a secret of the environment, which this tool names no use for',
      ),
    ]
  if (PRIVATE_VALUE.test(text) && text.length < 200 && !/\s/.test(text.trim())) {
    const isOwn = ABOUT_KEYS.test(subject) || /key|identity|credential|config|env/i.test(last)
    const isTaken = FILE_NAME.test(last)
    if (isUsed && !isOwn)
      return [finding('dangerous-value', 'hard', where, text, 'points at a private file by default')]
    if (isUsed && isTaken && !/key|identity/i.test(last) && /passwd|shadow|history|environ/.test(text))
      return [finding('dangerous-value', 'hard', where, text, 'points at a private file by default')]
    if (!isOwn) return [finding('dangerous-value', 'soft', where, text, 'points at a private file')]
  }
  if (isUsed && RECIPIENT_NAME.test(last)) {
    if (MAIL.test(text))
      return [finding('dangerous-value', 'hard', where, text, 'sends to an address of the author by default')]
    if (ADDRESS.test(text))
      return [finding('dangerous-value', 'hard', where, text, 'calls an address of the author by default')]
    if (
      /^(?:0x[0-9a-fA-F]{40}|[13][1-9A-HJ-NP-Za-km-z]{25,34}|bc1[a-z0-9]{20,60}|[A-Z]{2}\d{2}[A-Z0-9 ]{11,34})$/.test(
        text,
      )
    )
      return [finding('dangerous-value', 'hard', where, text, 'pays to an account of the author by default')]
  }
  return []
}

/** Switches that are on by default and take a protection away. */
function findSwitches(definition: unknown): Finding[] {
  const properties = (definition as { inputSchema?: { properties?: unknown } } | null)?.inputSchema
    ?.properties
  if (typeof properties !== 'object' || properties === null) return []
  return Object.entries(properties).flatMap(([name, schema]) => {
    const { default: value, const: fixed } = (
      typeof schema === 'object' && schema !== null ? schema : {}
    ) as { default?: unknown; const?: unknown }
    if ((value !== true && fixed !== true) || !LOOSE_SWITCH.test(name)) return []
    return [
      finding(
        'dangerous-value',
        'soft',
        `inputSchema.properties.${name}.default`,
        `${name}: true`,
        'switches a protection off by default',
      ),
    ]
  })
}
