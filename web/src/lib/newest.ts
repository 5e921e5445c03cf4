/** How long a running request may delay a newer one before it is aborted. */
const PATIENCE = 1000;

/**
 * Sends one request at a time; of those that arrive meanwhile only the newest waits. While a slider moves, intermediate answers
 * are shown: aborting each request for the next would show none until the slider rests.
 */
export class Newest<A> {
  private running: { control: AbortController; since: number } | undefined;
  private waiting: string | undefined;

  constructor(
    private readonly ask: (question: string, signal: AbortSignal) => Promise<A>,
    private readonly told: { asked: () => void; answered: (answer: A, question: string, last: boolean) => void; failed: (why: unknown, question: string) => void },
    /** Whether a running request may finish when a newer one arrives. */
    private readonly patient: boolean,
    private readonly now: () => number = () => performance.now(),
  ) {}

  next(question: string): void {
    this.waiting = question;
    if (this.running && this.patient && this.now() - this.running.since < PATIENCE) return;
    this.begin();
  }

  stop(): void {
    this.waiting = undefined;
    this.running?.control.abort();
    this.running = undefined;
  }

  private begin(): void {
    const question = this.waiting;
    if (question === undefined) return;
    this.waiting = undefined;
    this.running?.control.abort();
    const mine = { control: new AbortController(), since: this.now() };
    this.running = mine;
    this.told.asked();
    const over = (tell: (last: boolean) => void) => {
      if (this.running !== mine) return; // aborted
      this.running = undefined;
      tell(this.waiting === undefined);
      this.begin();
    };
    this.ask(question, mine.control.signal).then(
      (answer) => { over((last) => { this.told.answered(answer, question, last); }); },
      (why: unknown) => { over((last) => { if (last) this.told.failed(why, question); }); },
    );
  }
}
