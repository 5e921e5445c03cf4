/**
 * Asks what is likely to be asked next, one question after the other, so that the server has the answer at hand. Answers
 * are dropped: the server keeps them. What is asked in earnest goes first: everything else likely is given up.
 */
export class Ahead {
  private running: { question: string; control: AbortController } | undefined;
  private waiting: string[] = [];

  constructor(private readonly ask: (question: string, signal: AbortSignal) => Promise<unknown>) {}

  likely(questions: string[]): void {
    this.waiting = questions.filter((question) => question !== this.running?.question);
    if (!this.running) this.begin();
  }

  /** The same request, if it is running, is not aborted: the server answers both with it. */
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
