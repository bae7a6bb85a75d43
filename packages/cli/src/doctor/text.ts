/** Diagnoses for people: by rule, with the fix below each. */
import { firstLine } from '@toolwell/core/internal'
import { plural } from '../shared/table.js'
import type { Paint } from '../shared/terminal.js'
import { type Diagnosis, RULES, type RuleName } from './diagnosis.js'

/** Of one rule; the rest is counted. */
const MOST = 12

export function doctorText(
  diagnoses: readonly Diagnosis[],
  tools: number,
  servers: number,
  paint: Paint,
): string {
  const lines: string[] = [`${plural(servers, 'server')}, ${plural(tools, 'tool')}`, '']
  for (const rule of Object.keys(RULES) as RuleName[]) {
    const own = diagnoses.filter((each) => each.rule === rule)
    const worst = own[0]?.level
    const mark =
      worst === undefined
        ? paint('✓', 'name')
        : worst === 'error'
          ? paint('✗', 'error')
          : worst === 'warning'
            ? '!'
            : '·'
    lines.push(`${mark} ${own.length === 0 ? paint(RULES[rule], 'dim') : paint(RULES[rule], 'bold')}`)
    for (const each of own.slice(0, MOST)) {
      lines.push(`    ${placeOf(each)}${firstLine(each.message, 600)}`)
      lines.push(`      ${paint(`→ ${firstLine(each.fix, 400)}`, 'dim')}`)
    }
    if (own.length > MOST) lines.push(`    and ${own.length - MOST} more: see them with --json`)
  }
  return `${lines.join('\n')}\n\n${summary(diagnoses)}\n`
}

function placeOf({ server, tool, file, line, rule }: Diagnosis): string {
  if (rule === 'config' || rule === 'clients') return `${file ?? ''}${line === undefined ? '' : `:${line}`}  `
  if (server === undefined) return ''
  return `${firstLine(tool === undefined ? server : `${server}/${tool}`, 80)}  `
}

function summary(diagnoses: readonly Diagnosis[]): string {
  const of = (level: Diagnosis['level']) => diagnoses.filter((each) => each.level === level).length
  return `${plural(of('error'), 'error')}, ${plural(of('warning'), 'warning')}, ${plural(of('note'), 'note')}.`
}
