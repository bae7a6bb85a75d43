/** The address: `/dashboard/PAGE?filters`. */
import { signal } from '@preact/signals'

const BASE = '/dashboard/'

export type Query = Readonly<Record<string, string | undefined>>

const read = () => ({
  page: location.pathname.slice(BASE.length) || 'now',
  query: new URLSearchParams(location.search),
})

export const place = signal(read())

export function pathTo(page: string, query: Query = {}): string {
  const words = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) if (value) words.set(key, value)
  return `${BASE}${page === 'now' ? '' : page}${words.size > 0 ? `?${words}` : ''}`
}

export function goTo(path: string): void {
  history.pushState(null, '', path)
  const { page } = place.value
  place.value = read()
  if (page === place.value.page) return
  document.getElementById('main')?.focus({ preventScroll: true })
  scrollTo(0, 0)
}

/** Changes filters in the address, without a new entry in the history. */
export function setQuery(changes: Query): void {
  const { page, query } = read()
  history.replaceState(null, '', pathTo(page, { ...Object.fromEntries(query), ...changes }))
  place.value = read()
}

/** A filter whose value is in the address. */
export const queryFilter = (key: string) => ({
  value: place.value.query.get(key) ?? '',
  onChange: (value: string) => setQuery({ [key]: value }),
})

export function watchAddress(): void {
  addEventListener('popstate', () => {
    place.value = read()
  })
  addEventListener('click', (event) => {
    const link = (event.target as Element).closest('a')
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
    if (!link || !isPlain || link.target !== '' || link.origin !== location.origin) return
    if (!link.pathname.startsWith(BASE) || link.hash !== '') return
    event.preventDefault()
    goTo(link.pathname + link.search)
  })
}
