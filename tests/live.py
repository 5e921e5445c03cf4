#!/usr/bin/env python3
"""Live sampling without a GPU: runs the program with tests/fake_nvml.cc, and `top` in a real terminal (a pty).

Usage: live.py PROGRAM FAKE_LIBRARY"""
import fcntl
import gzip
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

PROGRAM, FAKE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
HERE = os.path.dirname(os.path.abspath(__file__))


def environment(**more):
    """Without the variables that are None."""
    all = {**os.environ, 'RIGHTSIZE_NVML': FAKE, 'NO_COLOR': '1', 'LC_ALL': 'C.UTF-8', 'HOME': tempfile.gettempdir(), **more}
    return {name: value for name, value in all.items() if value is not None}


def run(*words, **more):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, env=environment(**more), timeout=60)


class Mig(unittest.TestCase):
    def test_the_layout_of_this_machine(self):
        done = run('mig', '--gpu', 'h200-sxm', '--current', 'nvml', '--format', 'json', FAKE_NVML='mig')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('3g.71gb', done.stdout)
        self.assertEqual(run('mig', '--current', 'nvml', '--format', 'json', FAKE_NVML='mig').stdout, done.stdout)
        done = run('mig', '--gpu', 'h200-sxm', '--current', 'nvml', '--check', '7g.141gb', FAKE_NVML='mig')
        self.assertEqual(done.returncode, 2, done.stderr)

    def test_without_mig_mode_and_without_nvml(self):
        done = run('mig', '--gpu', 'h200-sxm', '--current', 'nvml')
        self.assertEqual(done.returncode, 3)
        self.assertIn('no GPU of this machine is in MIG mode', done.stderr)
        done = run('mig', '--gpu', 'h200-sxm', '--current', 'nvml', RIGHTSIZE_NVML='/nowhere/libnvidia-ml.so')
        self.assertEqual(done.returncode, 3)
        self.assertIn('hint:', done.stderr)


class Profile(unittest.TestCase):
    def test_the_commands_exit_code_is_passed_on_and_its_output_shown(self):
        done = run('profile', '--', 'sh', '-c', 'echo hello; sleep 0.7; exit 7')
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn('hello', done.stdout)
        self.assertIn('GPU 0 (NVIDIA H200): memory-bound', done.stdout)
        self.assertIn('GPU 1 (NVIDIA H200): idle', done.stdout)
        self.assertIn('of one processor core', done.stdout)

    def test_json_stays_json(self):
        done = run('profile', '--format', 'json', '--', 'sh', '-c', 'echo hello; sleep 0.5')
        self.assertEqual(json.loads(done.stdout)['gpus'][0]['verdict'], 'memory-bound')
        self.assertIn('hello', done.stderr)

    def test_a_command_that_does_not_exist(self):
        done = run('profile', '--', 'no-such-command')
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot run 'no-such-command'", done.stderr)

    def test_recordings_can_be_replayed(self):
        with tempfile.TemporaryDirectory() as folder:
            file = folder + '/r.csv'
            run('profile', '--record', file, '--duration', '600ms')
            replayed = json.loads(run('profile', '--replay', file, '--format', 'json').stdout)
            self.assertEqual([g['verdict'] for g in replayed['gpus']], ['memory-bound', 'idle'])
            self.assertEqual(replayed['gpus'][0]['name'], 'NVIDIA H200')

    def test_an_interrupt_ends_the_command_and_still_reports(self):
        started = subprocess.Popen([PROGRAM, 'profile', '--', 'sleep', '30'], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=environment())
        time.sleep(0.8)
        started.send_signal(signal.SIGINT)
        out, _ = started.communicate(timeout=20)
        self.assertEqual(started.returncode, 128 + signal.SIGINT)
        self.assertIn('Interrupted: the report covers the time until then.', out)
        self.assertIn('memory-bound', out)

    def test_only_the_gpus_of_the_process_are_reported(self):
        sleeper = subprocess.Popen(['sleep', '1'])
        done = run('profile', '--pid', str(sleeper.pid), '--format', 'json', FAKE_NVML_PID=str(sleeper.pid))
        sleeper.wait()
        self.assertEqual([g['index'] for g in json.loads(done.stdout)['gpus']], [0])

    def test_a_gpu_that_falls_off_the_bus_leaves_the_other(self):
        done = run('profile', '--duration', '2500ms', FAKE_NVML='lost')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('GPU 1 no longer answers: it has fallen off the bus', done.stdout)
        self.assertIn('GPU 0 (NVIDIA H200): memory-bound', done.stdout)

    def test_a_driver_without_counters_gives_a_verdict_of_lower_confidence(self):
        done = run('profile', '--duration', '1500ms', '--format', 'json', FAKE_NVML='old')
        gpu = json.loads(done.stdout)['gpus'][0]
        self.assertEqual(gpu['verdict'], 'memory-bound')
        self.assertLess(gpu['confidence'], 0.6)
        self.assertNotIn('sm_active', gpu['metrics'])

    def test_mig_instances_are_watched_one_by_one(self):
        gpus = json.loads(run('profile', '--duration', '600ms', '--format', 'json', FAKE_NVML='mig').stdout)['gpus']
        self.assertEqual([g['mig_id'] for g in gpus], ['2', '9'])

    def test_no_driver_is_an_unreadable_source(self):
        for more, words in (({'RIGHTSIZE_NVML': '/nowhere.so'}, 'no NVIDIA driver'), ({'FAKE_NVML': 'broken'}, 'is not loaded'),
                            ({'RIGHTSIZE_NVML': 'libm.so.6'}, 'is not an NVML library')):
            done = run('profile', '--duration', '1s', **more)
            self.assertEqual(done.returncode, 3)
            self.assertIn(words, done.stderr)


class Terminal:
    """Runs the program in a terminal of a given size and keeps its output as a screen of characters."""

    def __init__(self, columns, rows, *words, **more):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(PROGRAM, [PROGRAM, *words], environment(**{'TERM': 'xterm', **more}))
        self.resize(columns, rows)
        self.text = ''

    def resize(self, columns, rows):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def read(self, seconds):
        end = time.time() + seconds
        while time.time() < end:
            if select.select([self.fd], [], [], 0.05)[0]:
                try:
                    self.text += os.read(self.fd, 65536).decode('utf-8', 'replace')
                except OSError:
                    break
        return self.text

    def wait_for(self, what, seconds=15):
        end = time.time() + seconds
        while time.time() < end and what not in self.text:
            self.read(0.1)
        return what in self.text

    def frame(self):
        """The last complete frame, between two moves of the cursor to the home position."""
        return self.text.split('\x1b[H')[-1].replace('\x1b[K', '').replace('\r', '').split('\x1b[J')[0].split('\n')

    def send(self, keys):
        os.write(self.fd, keys)

    def end(self):
        self.read(1)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


class CompressedRecording(unittest.TestCase):
    def test_a_compressed_recording_is_read_like_a_plain_one(self):
        plain = os.path.join(HERE, 'fixtures/profile/held-20gib.csv')
        with tempfile.TemporaryDirectory() as folder, open(plain, 'rb') as file:
            packed = os.path.join(folder, 'recording.csv.gz')
            with gzip.open(packed, 'wb') as out:
                out.write(file.read())
            for words in (['profile', plain], ['profile', packed], ['profile', '--replay', packed]):
                done = run(*words, '--format', 'json')
                self.assertEqual(done.returncode, 0, done.stderr)
                gpus = json.loads(done.stdout)['gpus']
                self.assertEqual(gpus, json.loads(run('profile', '--replay', plain, '--format', 'json').stdout)['gpus'], words)
            self.assertEqual(gpus[0]['verdict'], 'idle-held')
            with open(packed, 'r+b') as out:
                out.truncate(os.path.getsize(packed) // 2)
            self.assertIn(run('profile', packed).returncode, (1, 3))


class DumbTerminal(unittest.TestCase):
    def test_a_terminal_without_escape_codes_gets_none(self):
        recording = os.path.join(HERE, 'fixtures/profile/held-20gib.csv')
        for words in (['top', '--replay', recording], ['gpus', 'h100'], ['profile', '--replay', recording]):
            for kind in ({'TERM': 'dumb'}, {'TERM': ''}):
                with self.subTest(words=words, **kind):
                    screen = Terminal(100, 30, *words, NO_COLOR=None, **kind)
                    screen.read(30)
                    self.assertEqual(screen.end(), 0)
                    self.assertNotIn('\x1b', screen.text)
                    self.assertIn('GPU', screen.text)
        screen = Terminal(100, 30, 'gpus', 'h100', NO_COLOR=None)
        screen.read(30)
        self.assertEqual(screen.end(), 0)
        self.assertIn('\x1b[1m', screen.text, 'other terminals get headings in bold')


class Top(unittest.TestCase):
    def test_live_view_fits_the_window_follows_its_size_and_ends_with_q(self):
        screen = Terminal(100, 30, 'top', '--interval', '100ms')
        self.assertTrue(screen.wait_for('memory-bound'), screen.text)
        self.assertTrue(screen.wait_for('GPU 1'))
        self.assertLessEqual(max(map(len, screen.frame())), 100)
        screen.resize(50, 9)
        screen.text = ''
        self.assertTrue(screen.wait_for('more; enlarge the window'), screen.text)
        screen.text = ''
        screen.wait_for('more; enlarge the window')
        self.assertLessEqual(len(screen.frame()), 9)
        self.assertLessEqual(max(map(len, screen.frame())), 50)
        screen.send(b'q')
        self.assertEqual(screen.end(), 0)
        self.assertIn('\x1b[?1049l', screen.text, 'the screen before is back')

    def test_interrupt_restores_the_terminal(self):
        screen = Terminal(80, 24, 'top', '--interval', '100ms')
        screen.wait_for('GPU 0')
        screen.send(b'\x03')
        self.assertEqual(screen.end(), 0)
        self.assertIn('\x1b[?25h', screen.text)

    def test_replay_plays_and_once_prints_the_end(self):
        file = HERE + '/fixtures/profile/memory-resnet50-train.csv'
        screen = Terminal(100, 24, 'top', '--replay', file, '--speed', '20', '--interval', '100ms')
        self.assertTrue(screen.wait_for('memory-bound'), screen.text)
        screen.send(b'q')
        self.assertEqual(screen.end(), 0)
        once = run('top', '--once', '--replay', file)
        self.assertIn('memory-bound', once.stdout)
        self.assertNotIn('\x1b', once.stdout)

    def test_once_live_and_as_json(self):
        once = json.loads(run('top', '--once', '--format', 'json', FAKE_NVML_PID='1').stdout)
        self.assertEqual([g['verdict'] for g in once['gpus']], ['memory-bound', 'idle'])
        self.assertEqual(once['gpus'][0]['processes'][0]['pid'], 1)
        self.assertGreater(once['gpus'][0]['usd_per_hour'], 0)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
