import { playSeed } from './play.ts'

playSeed('caliban')
