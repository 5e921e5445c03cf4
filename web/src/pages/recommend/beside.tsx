// Two plans side by side.
import type { Plan } from '../../api/client';
import { duration, gib, money, number, percent, signedPercent } from '../../lib/format';
import { amountOf, inPeriod, period } from '../../lib/period';
import { boundShown, stackName } from '../../lib/words';
import { Card, Named } from '../../parts/basics';
import { machinesOf, settingsOf } from './answer';
import { workOf, type Choice } from './compare';

export interface Line {
  name: string;
  cells: [string, string];
  /** The second against the first, if both are numbers. */
  difference: string;
}

/** The facts of two plans; those that neither has are left out. */
export function linesOf(a: Plan, b: Plan, serving: boolean): Line[] {
  const amount = (name: string, of: (plan: Plan) => number | null | undefined, show: (value: number) => string): Line => {
    const [x, y] = [of(a), of(b)];
    const known = typeof x === 'number' && typeof y === 'number' && x > 0;
    return { name, cells: [typeof x === 'number' ? show(x) : '–', typeof y === 'number' ? show(y) : '–'], difference: known ? signedPercent(y / x - 1) : '' };
  };
  const text = (name: string, of: (plan: Plan) => string): Line => ({ name, cells: [of(a), of(b)], difference: '' });
  const { unit } = workOf(a);
  return [
    amount(serving ? `Cost per ${period()}` : 'Total cost', (plan) => plan.usd_total, serving ? amountOf : money),
    ...(serving
      ? [amount('TTFT', (plan) => plan.ttft_seconds, duration), amount('TPOT', (plan) => plan.tpot_seconds, duration), amount('Replicas', (plan) => plan.replicas, number)]
      : [amount('Time', (plan) => plan.hours * 3600, duration)]),
    amount('Per hour', (plan) => plan.usd_per_hour, money),
    amount('Per GPU-hour', (plan) => plan.usd_per_hour / plan.gpus, money),
    amount('GPUs', (plan) => plan.gpus, number),
    amount(`1M ${unit}`, (plan) => workOf(plan).usdPerMillion, money),
    amount(serving ? `Energy per ${period()}` : 'Energy', (plan) => plan.energy_kwh, (kwh) => `${number(serving ? inPeriod(kwh) : kwh)} kWh`),
    amount('GPU memory', (plan) => plan.memory_bytes, gib),
    amount('MFU', (plan) => plan.mfu, (share) => percent(share)),
    text('Bound by', (plan) => boundShown(plan.bound)),
    text('Machines', (plan) => `${number(plan.instances)} × ${plan.instance}`),
    text('Region', (plan) => plan.region),
    text('Settings', (plan) => [plan.precision ?? '', stackName(plan.stack ?? ''), ...settingsOf(plan, serving)].filter(Boolean).join(', ')),
    text('Speed', (plan) => ({ measured: 'measured', calibrated: 'calibrated', transferred: 'from related benchmarks', specification: 'from the data sheet' })[plan.basis ?? ''] ?? '–'),
    amount('Age of the price', (plan) => plan.price_age_days, (days) => `${number(days)} d`),
  ].filter((line) => line.cells.some((cell) => cell !== '–' && cell !== ''));
}

export function SideBySide(props: { first: Choice; second: Choice; serving: boolean; onClose: () => void }) {
  const { first, second } = props;
  const lines = linesOf(first.plan, second.plan, props.serving);
  return (
    <Card title="Two plans side by side" bare tools={<button type="button" class="button small" onClick={props.onClose}>Close</button>}>
      <div class="scroll" tabIndex={0} role="group" aria-label="Two plans side by side">
        <table class="beside">
          <thead>
            <tr>
              <td />
              <th scope="col">{machinesOf(first.plan)}</th>
              <th scope="col">{machinesOf(second.plan)}</th>
              <th scope="col" class="number">Difference</th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <tr key={line.name} class={line.cells[0] === line.cells[1] ? 'quiet' : ''}>
                <th scope="row"><Named name={line.name} /></th>
                <td>{line.cells[0]}</td>
                <td>{line.cells[1]}</td>
                <td class="number">{line.cells[0] === line.cells[1] ? 'same' : line.difference}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
