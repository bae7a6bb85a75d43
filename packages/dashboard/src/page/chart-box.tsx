/** The time chart. Loads the chart library when it is first shown. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { theme } from './theme.js'

interface Series {
  readonly label: string
  readonly values: readonly (number | null)[]
  /** A custom property of the style sheet. */
  readonly color: '--chart' | '--chart-2' | '--bad-dot'
}

export interface ChartProps {
  /** A sentence for people who do not see the chart. */
  readonly label: string
  readonly unit: 'hour' | 'day'
  /** Milliseconds. */
  readonly times: readonly number[]
  /** Later ones are drawn over earlier ones. */
  readonly series: readonly Series[]
  readonly describe: (index: number) => string
}

export function Chart(props: ChartProps) {
  const { label, unit, times, series, describe } = props
  const box = useRef<HTMLDivElement>(null)
  const [hovered, setHovered] = useState<number>()
  const data = JSON.stringify([times, series])
  useEffect(() => {
    let remove: (() => void) | undefined
    let isGone = false
    void import('./chart.js').then(({ drawChart }) => {
      if (box.current && !isGone) remove = drawChart(box.current, props, setHovered)
    })
    return () => {
      isGone = true
      remove?.()
    }
  }, [data, theme.value])
  const shown = hovered === undefined ? undefined : times[hovered]
  return (
    <figure class="chart" role="img" aria-label={label}>
      <figcaption>
        <strong>{shown === undefined ? label : describe(hovered ?? 0)}</strong>
        <span class="quiet">
          {shown === undefined
            ? ''
            : new Date(shown).toLocaleString(undefined, {
                weekday: 'short',
                day: 'numeric',
                month: 'short',
                ...(unit === 'hour' ? { hour: '2-digit', minute: '2-digit' } : { timeZone: 'UTC' }),
              })}
        </span>
        <span class="legend">
          {series.map(
            ({ label: name, color, values }) =>
              values.some(Boolean) && (
                <span key={name} class="key" style={{ '--key': `var(${color})` }}>
                  {name}
                </span>
              ),
          )}
        </span>
      </figcaption>
      <div ref={box} class="canvas" />
    </figure>
  )
}
