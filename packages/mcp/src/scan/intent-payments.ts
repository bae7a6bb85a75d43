/** Where money goes: an account that a description names is the author's, not the payee's. */
import { bit } from './concepts.js'
import { has, speaksOfAttacks } from './sentence-tests.js'
import type { Judge } from './suspicion.js'
import { about, isAuthors, PASSIVE_ORDER, told } from './theme-tests.js'
import { theme } from './themes.js'

const ACCOUNT =
  /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b|\b0x[0-9a-fA-F]{40}\b|\b(?:bc1[a-z0-9]{20,60}|[13][1-9A-HJ-NP-Za-km-z]{25,34}|T[1-9A-HJ-NP-Za-km-z]{33})\b|(?<!\d)\d{12,19}(?!\d)|\b(?:account|acct|konto|cuenta|compte|wallet|iban|sort code)\b[^.\d]{0,20}\d[\d -]{5,30}\d|@[a-z][\w-]{2,30}\b(?= on (?:paypal|venmo|cash ?app))/
const EXAMPLE =
  /\b(?:e\.g|example|examples|such as|format|like|looks|pattern|length|digits|z\.b|por ejemplo|exemple|test)\b|例如/

export const paymentJudge: Judge = (sentence, setting) => {
  if (!about(sentence, theme.money | theme.account) && !has(sentence, bit.argument)) return undefined
  if (speaksOfAttacks(sentence)) return undefined
  const { folded, text, tokens } = sentence
  if (EXAMPLE.test(folded)) return undefined
  const isGeneral =
    about(sentence, theme.always | theme.regardless | theme.rivals | theme.works) ||
    has(sentence, bit.force | bit.when | bit.other)
  const isPaid =
    about(sentence, theme.money | theme.account) ||
    (/\b(?:send|transfer|pay|deposit)\b/.test(folded) && isGeneral)
  if (isPaid && ACCOUNT.test(text) && (!setting.isParameter || isGeneral))
    return { rule: 'tool-tampering', weight: 3, why: 'names the account that money is to go to' }
  const isTold =
    told(sentence, theme.money | theme.keep) >= 0 || PASSIVE_ORDER.test(folded) || has(sentence, bit.force)
  const isOurs = tokens.some(
    (token, index) =>
      isAuthors(token) && tokens.slice(index, index + 4).some(({ themes }) => themes & theme.account),
  )
  if (
    isOurs &&
    about(sentence, theme.money) &&
    isGeneral &&
    isTold &&
    /\b(?:to|into|on|via|with|use|through)\b/.test(folded)
  )
    return { rule: 'tool-tampering', weight: 2.5, why: 'wants money to go to an account of the author' }
  return undefined
}
