"""The module inside a process with signals, threads and forks."""
import os
import signal
import subprocess
import sys
import textwrap
import threading
import unittest

import rightsize

LONG = [lambda: rightsize.batch('llama-3.1-8b', 'h100-sxm', arrivals='poisson:5', requests=900_000_000),
        lambda: rightsize.recommend('llama-3.1-70b', job='serve', rate='50/s', ttft_slo='1s'),
        lambda: rightsize.call('autoscale', model='llama-3.1-8b', gpu='h100-sxm', arrivals='diurnal:5,2', duration='7d', slo='ttft=1s,tpot=50ms')]


class Signals(unittest.TestCase):
    def test_ctrl_c_interrupts_a_call(self):
        """A simulation of hours ends at once; shorter calls are repeated until the signal comes."""
        for number, call in enumerate(LONG):
            with self.subTest(call=number):
                timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
                timer.start()
                with self.assertRaises(KeyboardInterrupt):
                    while True:
                        call()
                timer.join()
        self.assertTrue(rightsize.gpus('h100').gpus)

    def test_a_handler_that_does_not_raise_does_not_interrupt(self):
        seen = []
        before = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
            made = rightsize.batch('llama-3.2-1b', 'l4', arrivals='poisson:5', requests=20_000)
            signal.setitimer(signal.ITIMER_REAL, 0)
        finally:
            signal.signal(signal.SIGALRM, before)
        self.assertTrue(made.to_dict())

    def test_a_process_ends_after_an_interrupted_call(self):
        code = textwrap.dedent('''
            import os, signal, threading, rightsize
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                while True:
                    rightsize.batch('llama-3.1-8b', 'h100-sxm', arrivals='poisson:5', requests=900_000_000)
            except KeyboardInterrupt:
                print('interrupted')''')
        done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (0, 'interrupted\n'), done.stderr)


class Forks(unittest.TestCase):
    def test_a_child_answers_while_other_threads_of_its_parent_work(self):
        code = textwrap.dedent('''
            import os, threading, rightsize
            stop = threading.Event()

            def work():
                while not stop.is_set():
                    rightsize.estimate('llama-3.1-8b', 'h100-sxm', batch=4)
                    rightsize.gpus('h100')
                    rightsize.memory('bert-large', 't4')

            threads = [threading.Thread(target=work) for _ in range(2)]
            for thread in threads:
                thread.start()
            for _ in range(15):
                child = os.fork()
                if child == 0:
                    rightsize.memory('llama-3.1-8b', 'l4')
                    rightsize.estimate('llama-3.1-8b', 'h100-sxm', job='serve', rate='5/s')
                    rightsize.gpus('l4')
                    os._exit(0)
                assert os.waitpid(child, 0)[1] == 0
            stop.set()
            for thread in threads:
                thread.join()
            print('done')''')
        done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.stdout, 'done\n', done.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
