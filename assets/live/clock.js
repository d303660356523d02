// The display clock: shown time runs smoothly behind the received steps, so that frames can be interpolated.

const BUFFER_S = 0.25;
const JUMP_S = 4;

export class Clock {
  constructor() {
    this.reset();
  }

  reset() {
    this.time = null; // shown time in steps, a real number
    this.arrivals = []; // [seconds, newest step] of the last two seconds
    this.hurryUntil = 0;
  }

  /** Note that the newest step is known at `now` (seconds). */
  arrived(now, newest) {
    this.arrivals.push([now, newest]);
    while (this.arrivals.length > 2 && this.arrivals[0][0] < now - 2) this.arrivals.shift();
  }

  /** Steps a second at which frames really arrive, or null when not yet known. */
  rate() {
    if (this.arrivals.length < 3) return null;
    const [first, last] = [this.arrivals[0], this.arrivals.at(-1)];
    return last[0] - first[0] > 0.3 ? (last[1] - first[1]) / (last[0] - first[0]) : null;
  }

  /** Shorten the buffer for a moment, so that the effect of a control is seen sooner. */
  hurry(now) {
    this.hurryUntil = now + 1.2;
  }

  /**
   * Move on by `dt` seconds. newest: last step received; gap: steps between the last two frames; pace: wished steps
   * a second, 0 for as fast as they come. Returns the shown time, never beyond `newest`.
   */
  advance(now, dt, newest, gap, pace) {
    if (newest === null || newest < 0) return this.time;
    const lag = this.time === null ? Infinity : newest - this.time;
    const measured = this.rate();
    const speed = Math.max(0.5, Math.min(pace || Infinity, measured ?? (pace || 8)) || 8);
    if (this.time === null || lag < 0 || lag > speed * JUMP_S + 4 * gap) {
      this.time = this.time === null || lag < 0 ? newest : Math.max(0, newest - gap);
      return this.time;
    }
    const buffer = now < this.hurryUntil ? 0.08 : BUFFER_S;
    const wanted = gap / 2 + buffer * speed;
    const factor = Math.min(4, Math.max(0.5, 1 + 0.5 * ((lag - wanted) / wanted)));
    this.time = Math.min(newest, this.time + speed * factor * dt);
    return this.time;
  }
}
