/**
 * Prefetches likely next questions one after the other to fill the server's cache. The answers themselves are
 * dropped. A real question has priority: prefetches in progress are aborted.
 */
export class Ahead {
  private running: { question: string; control: AbortController } | undefined;
  private waiting: string[] = [];

  constructor(private readonly ask: (question: string, signal: AbortSignal) => Promise<unknown>) {}

  likely(questions: string[]): void {
    this.waiting = questions.filter((question) => question !== this.running?.question);
    if (!this.running) this.begin();
  }

  /** A running prefetch of the same request is not aborted, because the server answers both together. */
  now(question: string | null): void {
    this.waiting = [];
    if (this.running && this.running.question !== question) this.running.control.abort();
  }

  private begin(): void {
    const question = this.waiting.shift();
    if (question === undefined) return;
    const mine = { question, control: new AbortController() };
    this.running = mine;
    const over = () => {
      this.running = undefined;
      this.begin();
    };
    this.ask(question, mine.control.signal).then(over, over);
  }
}
