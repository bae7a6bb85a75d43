/** Draws bars over time with uPlot. */
import UPlot from 'uplot'
import type { ChartProps } from './chart-box.js'
import { short } from './format.js'

const HEIGHT = 168
const HOUR = 3600
const DAY = 24 * HOUR

/** Returns a function that removes the chart. */
export function drawChart(
  box: HTMLElement,
  { unit, times, series }: ChartProps,
  onHover: (index: number | undefined) => void,
): () => void {
  const style = getComputedStyle(box)
  const color = (name: string) => {
    // The browser resolves light-dark() only for real properties.
    box.style.color = `var(${name})`
    const { color: resolved } = getComputedStyle(box)
    box.style.color = ''
    return resolved
  }
  const font = `${Number.parseFloat(style.fontSize) * 0.88}px ${style.fontFamily}`
  const paths = UPlot.paths.bars?.({ size: [0.72, 28], radius: 0.15 })
  const step = unit === 'day' ? DAY : HOUR
  const axis = { stroke: color('--text-3'), font, ticks: { show: false } }
  const plot = new UPlot(
    {
      width: box.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      padding: [8, 24, 0, 0],
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      ...(unit === 'day'
        ? { tzDate: (seconds: number) => UPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') }
        : {}),
      scales: {
        x: { range: (_, least, most) => [least - step / 2, most + step / 2] },
        y: { range: (_, __, most) => [0, Math.max(4, most * 1.1)] },
      },
      axes: [
        {
          ...axis,
          size: 28,
          grid: { show: false },
          // Whole days or hours, each once.
          incrs:
            unit === 'day'
              ? [DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY]
              : [HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY],
          values: (_, splits) => splits.map((seconds) => nameTime(seconds * 1000, unit)),
        },
        {
          ...axis,
          size: 48,
          grid: { stroke: color('--line'), width: 1 },
          values: (_, splits) => splits.map((value) => (Number.isInteger(value) ? short(value) : '')),
        },
      ],
      series: [
        {},
        ...series.map(({ color: name }) => ({
          fill: color(name),
          stroke: color(name),
          width: 0,
          ...(paths && { paths }),
          points: { show: false },
        })),
      ],
      hooks: { setCursor: [({ cursor }) => onHover(cursor.idx ?? undefined)] },
    },
    [times.map((time) => time / 1000), ...series.map(({ values }) => [...values])],
    box,
  )
  const observer = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: HEIGHT }))
  observer.observe(box)
  return () => {
    observer.disconnect()
    plot.destroy()
  }
}

/** Hours in local time, days in UTC, as the gateway counts them. */
function nameTime(time: number, unit: ChartProps['unit']): string {
  const date = new Date(time)
  const isDay = unit === 'day' || date.getHours() === 0
  return date.toLocaleString(
    'en-GB',
    isDay
      ? { day: 'numeric', month: 'short', ...(unit === 'day' ? { timeZone: 'UTC' } : {}) }
      : { hour: '2-digit', minute: '2-digit' },
  )
}
