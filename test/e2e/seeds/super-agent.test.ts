import { playSeed } from './play.ts'

playSeed('super-agent')
