/** Whether a text is made of words that anybody may write: `pull_requests`, `application/json`, `read:issues`, `us-east-1`. */
import { isOrdinaryWord } from '@toolwell/core/internal'
import { USUAL } from './show-word.js'

/** Words of settings, beside those of tools. */
const SETTINGS: ReadonlySet<string> = new Set(
  `admin address agent align allow app application arg args backend base batch beta binary bind buffer build bundle cache caps cert chrome chromium
  class cluster cmd color command compact component compose conf config connect console container context core cors cpu cwd
  daemon db default demo dir directory disable disabled display dist domain east edge enable enabled encoding endpoint engine entry error
  europe example experimental extension false feature firefox flag format full gateway global group guest handler headed headless
  hidden home hook host hostname id ignore image index inbound info init input inspect instance interval ipv4 ipv6 isolated issue
  java javascript job kernel kind label lang language layer legacy level lib library limit line link linux listen loader local
  locale log logger logs loop machine macos main manager manual markdown master max memory meta method metric min mini mode
  model module mount multi name namespace native net network node none north null number object offline opt option options org
  origin os outbound output package page parser path pipe pixel plain platform plugin pool port postgres prefix preset preview
  primary private process prod profile program prompt protocol provider proxy pub public queue quiet raw readonly redis
  reader ref region registry release remote repo repos request reset resource response resume retry role root route router runtime safe
  sandbox schema scope script secondary section select self service session settings shared shell simple single size skip slow socket
  sonnet south space spec sqlite srv stable stage staging standard state static stats status std stderr stdin stdout storage stream
  strict string sub suite support switch sync sys system tab tag target task temp template tenant terminal theme thread
  timeout tmp toolset toolsets toolwell trace transport tree true type typescript ubuntu unit unix update upstream url usr util utils utf8 value
  var vendor verbose version viewer viewport virtual vision volume watch webkit west width height window windows worker
  workflow write writer xml yaml zone`.split(/\s+/),
)

/** Pieces between signs, and between small and capital letters. */
const piecesOf = (text: string) =>
  text
    .replace(/([a-z])(?=[A-Z])/g, '$1 ')
    .split(/[^A-Za-z0-9]+/)
    .filter((piece) => piece !== '')

/** Short pieces and numbers may stand between the words, as long as these are more than half of it. */
export function isCommon(text: string): boolean {
  // Signs in a row are no way to write words.
  if (text.length > 200 || /[^\x20-\x7e]|[^A-Za-z0-9\s]{3}/.test(text)) return false
  let known = 0
  let all = 0
  for (const piece of piecesOf(text)) {
    all += piece.length
    const word = piece.toLowerCase()
    if (piece.length > 2 && (isOrdinaryWord(word) || SETTINGS.has(word) || USUAL.has(word)))
      known += piece.length
    else if (!/^(?:[A-Za-z]{1,3}|\d{1,4}|v\d{1,2})$/.test(piece)) return false
  }
  return known * 2 > all
}

/** Words in a row, most of them ordinary: what is written for readers. */
export function isSentence(text: string): boolean {
  const words = text.split(/\s+/).map((word) => word.toLowerCase().replace(/[^a-z]+/g, ''))
  return words.length > 2 && words.filter(isOrdinaryWord).length * 2 >= words.length
}
