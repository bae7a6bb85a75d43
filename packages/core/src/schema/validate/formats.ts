/** Checks of `format`, each in one pass over the text. Unknown formats accept everything. */

function isDate(text: string): boolean {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (!parts) return false
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])]
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  return days !== undefined && day >= 1 && day <= days
}

function isTime(text: string): boolean {
  const parts = /^(\d\d):(\d\d):(\d\d)(.*)$/.exec(text)
  if (!parts) return false
  const [hour, minute, second] = [Number(parts[1]), Number(parts[2]), Number(parts[3])]
  const rest = parts[4] ?? ''
  const fraction = rest.startsWith('.') ? (/^\.\d+/.exec(rest)?.[0] ?? '') : ''
  if (rest.startsWith('.') && fraction === '') return false
  const zone = /^(?:z|([+-])(\d\d):(\d\d))$/i.exec(rest.slice(fraction.length))
  if (!zone || hour > 23 || minute > 59 || second > 60) return false
  const [zoneHour, zoneMinute] = [Number(zone[2] ?? 0), Number(zone[3] ?? 0)]
  if (zoneHour > 23 || zoneMinute > 59) return false
  // A leap second is the last second of a UTC day.
  const shift = (zoneHour * 60 + zoneMinute) * (zone[1] === '-' ? 1 : -1)
  return second < 60 || (hour * 60 + minute + shift + 2880) % 1440 === 1439
}

function isDateTime(text: string): boolean {
  return isDate(text.slice(0, 10)) && /^[t ]$/i.test(text.charAt(10)) && isTime(text.slice(11))
}

const DURATION = /^P(?:\d+W|(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$/

function isHostname(text: string): boolean {
  if (text === '' || text.length > 253) return false
  return text.split('.').every((label) => {
    if (label === '' || label.length > 63 || label.startsWith('-') || label.endsWith('-')) return false
    return /^[a-z\d-]+$/i.test(label)
  })
}

function isIpv4(text: string): boolean {
  const parts = text.split('.', 5)
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)
}

function isIpv6(text: string): boolean {
  if (text.length > 45) return false
  const halves = text.split('::')
  if (halves.length > 2) return false
  const parts = halves.flatMap((half) => (half === '' ? [] : half.split(':')))
  const last = parts.at(-1) ?? ''
  const endsInIpv4 = last.includes('.')
  if (endsInIpv4 && (!isIpv4(last) || !text.endsWith(last))) return false
  const groups = endsInIpv4 ? parts.slice(0, -1) : parts
  const count = groups.length + (endsInIpv4 ? 2 : 0)
  return (
    groups.every((group) => /^[\da-f]{1,4}$/i.test(group)) && (halves.length === 2 ? count < 8 : count === 8)
  )
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, at)
  const host = text.slice(at + 1)
  if (at < 1 || local.length > 255) return false
  const isQuoted = /^"[^"\\]*"$/.test(local)
  if (!isQuoted && (/[\s"(),:;<>@[\]\\]/.test(local) || /^\.|\.\.|\.$/.test(local))) return false
  if (!host.startsWith('[')) return isHostname(host)
  const address = host.slice(1, -1)
  return host.endsWith(']') && (isIpv4(address) || (/^ipv6:/i.test(address) && isIpv6(address.slice(5))))
}

/** True if all characters are legal in a URI, and each `%` is followed by two hex digits. */
function hasUriCharacters(text: string): boolean {
  return /^[!#$%&'()*+,\-./:;=?@[\]_~\w]*$/.test(text) && !/%(?![\da-f]{2})/i.test(text)
}

function isParsed(text: string, base?: string): boolean {
  try {
    return new URL(text, base) !== undefined
  } catch {
    return false
  }
}

const hasScheme = (text: string) => /^[a-z][a-z\d+.-]*:/i.test(text)
const isAddress = (text: string) => hasScheme(text) && isParsed(text)

function isReference(text: string): boolean {
  return isParsed(text, 'https://example.com/') && text.split('#', 3).length < 3
}

function isUriTemplate(text: string): boolean {
  // Expressions do not nest: each `{` needs its `}` before the next.
  let open = -1
  for (let at = 0; at < text.length; at++) {
    const unit = text[at]
    if (unit === '{' && open !== -1) return false
    if (unit === '{') open = at
    if (unit === '}' && (open === -1 || open === at - 1)) return false
    if (unit === '}') open = -1
  }
  return open === -1 && !/[\s"'<>\\^`|]/.test(text)
}

function isPointer(text: string): boolean {
  return (text === '' || text.startsWith('/')) && !/~(?![01])/.test(text)
}

function isRelativePointer(text: string): boolean {
  const steps = /^(?:0|[1-9]\d*)/.exec(text)?.[0]
  if (steps === undefined) return false
  const rest = text.slice(steps.length)
  return rest === '#' || isPointer(rest)
}

function isExpression(text: string): boolean {
  try {
    return new RegExp(text, 'u') !== undefined
  } catch {
    return false
  }
}

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  time: isTime,
  'date-time': isDateTime,
  duration: (text) => text.length < 100 && DURATION.test(text),
  email: isEmail,
  hostname: isHostname,
  ipv4: isIpv4,
  ipv6: isIpv6,
  uri: (text) => hasUriCharacters(text) && isAddress(text),
  url: isAddress,
  'uri-reference': (text) => hasUriCharacters(text) && isReference(text),
  'uri-template': isUriTemplate,
  uuid: (text) => /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(text),
  'json-pointer': isPointer,
  'json-pointer-uri-fragment': (text) => text.startsWith('#') && isPointer(text.slice(1)),
  'relative-json-pointer': isRelativePointer,
  regex: isExpression,
}

export function fitsFormat(format: string, text: string): boolean {
  const fits = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined
  return fits?.(text) ?? true
}
