/** Light or dark: by the system, or as chosen. Kept in this browser. */
import { signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'
const KEY = 'toolwell-theme'
const ORDER: readonly Theme[] = ['system', 'light', 'dark']

const kept = localStorage.getItem(KEY) as Theme | null
export const theme = signal<Theme>(kept && ORDER.includes(kept) ? kept : 'system')

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.value
}

export function nextTheme(): void {
  theme.value = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length] ?? 'system'
  localStorage.setItem(KEY, theme.value)
  applyTheme()
}
