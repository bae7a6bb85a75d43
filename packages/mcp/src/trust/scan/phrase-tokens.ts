/** A text as words to be compared: folded, one character each where a script has no spaces, paths and addresses by kind. */
import { fold } from './fold.js'

export interface Token {
  readonly word: string
  /** First of its sentence. */
  readonly opens: boolean
  /** Where it stands in the text. */
  readonly from: number
  readonly to: number
}

/** A character of a script without spaces; anything else between blanks and brackets; a new paragraph or item. */
const PIECE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー,;()[\]"“”„«»`<>|。！？…、，：；「」]+|[。！？…]|\n\s{0,6}(?:\n|[-*•#]|\d{1,3}[.)])/gu
const WORD = /[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)*/gu

/** Files that hold nothing but secrets. */
const PRIVATE =
  /(?:^|[/\\~])\.(?:ssh|aws|gnupg|netrc|npmrc|pypirc|pgpass|git-credentials|bash_history|zsh_history|vault-token|password-store|kube|cursor[/\\]mcp|config[/\\](?:gcloud|gh))(?![\w.]*\.(?:com|io))|id_(?:rsa|ed25519|ecdsa|dsa)\b|[/\\]etc[/\\](?:passwd|shadow|sudoers)\b|[/\\]proc[/\\]self[/\\]environ|\bwallet\.dat\b|\.kdbx\b|\baws[/\\]credentials\b/i
/** Files that often hold some. */
const SENSITIVE =
  /(?:^|[/\\])\.env(?:\.\w+)?$|^(?:\S*[/\\])?(?:credentials|secrets?)\.(?:json|ya?ml|toml|csv)$|\.(?:pem|p12|pfx)$|\bmcp\.json$|^process\.env|^\$?\{?(?:process\.env\.)?[A-Z][A-Z0-9]+_(?:[A-Z0-9]+_)*(?:KEY|TOKEN|SECRET|PASSWORD)\}?$/
const ADDRESS =
  /^(?:https?|ftp|s3|wss?):\/\/\S|^git@[\w.-]+:|^[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+$|^\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\S*)?$|^[\w-]+\.(?:example|com|net|org|io|dev|xyz)(?:\/\S*)?$/i
/** An IBAN or the address of a wallet. */
const ACCOUNT = /^(?:[A-Z]{2}\d{2}[A-Z0-9]{11,30}|0x[0-9a-fA-F]{40}|bc1[a-z0-9]{20,60}|\d{16,19})$/
/** No path or address is longer. */
const LONGEST = 200

export function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let opens = true
  const add = (word: string, from: number, to: number) => {
    tokens.push({ word, opens, from, to })
    opens = false
  }
  for (const { 0: piece, index: from } of text.matchAll(PIECE)) {
    const kind = kindOf(piece)
    if (kind !== undefined) add(kind, from, from + piece.length)
    // `l'utilisateur` is two words, `don't` is one.
    else
      for (const { 0: word, index } of piece.matchAll(WORD))
        for (const part of fold(word).split(/(?<=^[a-z]{1,2})'/))
          add(part, from + index, from + index + word.length)
    if (kind !== 'example' && /[.!?。！？…]$|^\n/.test(piece)) opens = true
  }
  return tokens
}

function kindOf(piece: string): string | undefined {
  if (piece.length > LONGEST) return undefined
  if (/^(?:e\.g|i\.e)\.?:?$/i.test(piece)) return 'example'
  const bare = piece.replace(/^'|[.:?!']{1,3}$/g, '')
  if (ACCOUNT.test(bare)) return '<account>'
  if (!/[/\\@:.~_$]/.test(bare)) return undefined
  if (PRIVATE.test(bare)) return '<path>'
  if (SENSITIVE.test(bare)) return '<file>'
  return ADDRESS.test(bare) ? '<address>' : undefined
}
