#!/usr/bin/env python3
"""rightsize prices update with a test server that cuts off responses, drops pages, changes files and sends wrong headers.
Usage: update_test.py PROGRAM"""
import contextlib
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading

HEADER = 'InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,Price,SpotPrice\n'


def catalogue(price, rows=1):
    gpu = json.dumps({'Gpus': [{'Name': 'H100', 'MemoryInfo': {'SizeInMiB': 81559}}]}).replace('"', "'")
    return (HEADER + ''.join('gpu_8x_h100_sxm5,208,1800,H100,8,"%s",region-%d,%g,\n' % (gpu, i, price + i / 1000) for i in range(rows))).encode()


def page(price, following):
    item = {'currencyCode': 'USD', 'retailPrice': price, 'unitPrice': price, 'armRegionName': 'eastus%d' % price, 'location': 'US East',
            'meterName': 'ND96isrH100v5', 'productName': 'Virtual Machines NDsr H100 v5 Series', 'skuName': 'ND96isr H100 v5',
            'serviceName': 'Virtual Machines', 'unitOfMeasure': '1 Hour', 'type': 'Consumption', 'armSkuName': 'Standard_ND96isr_H100_v5'}
    return json.dumps({'BillingCurrency': 'USD', 'Items': [item], 'NextPageLink': following, 'Count': 1}).encode()


class Server(http.server.BaseHTTPRequestHandler):
    files, tags, cut, asked, hooks = {}, {}, {}, [], {}
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        self.asked.append((self.path, self.headers.get('Range')))
        if self.path in self.hooks:
            self.hooks[self.path]()
        body = self.files.get(self.path)
        if body is None:
            return self.answer(404, b'')
        begin, tag = 0, self.tags.get(self.path)
        if self.headers.get('Range') and self.headers.get('If-Range') == tag:
            begin = int(self.headers['Range'].split('=')[1].rstrip('-'))
            if begin >= len(body):
                return self.answer(416, b'')
        self.answer(206 if begin else 200, body[begin:], tag, self.cut.pop(self.path, None))

    def answer(self, status, body, tag=None, cut=None):
        self.send_response(status)
        self.send_header('Content-Length', str(len(body)))
        if tag:
            self.send_header('ETag', tag)
        self.end_headers()
        self.wfile.write(body if cut is None else body[:cut])
        if cut is not None:
            self.wfile.flush()
            self.connection.close()
            self.close_connection = True

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served():
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield 'http://127.0.0.1:%d' % server.server_port
    server.shutdown()


class Update:
    def __init__(self, program, home):
        self.program, self.home = program, home

    def run(self, *words):
        environment = dict(os.environ, HOME=self.home, XDG_CACHE_HOME=self.home + '/cache', XDG_DATA_HOME=self.home + '/data',
                           XDG_CONFIG_HOME=self.home + '/config')
        done = subprocess.run([self.program, 'prices', *words, '--store', self.home + '/prices.db', '--format', 'json'], env=environment,
                              capture_output=True, text=True)
        return done.returncode, json.loads(done.stdout) if done.stdout.startswith('{') else done.stderr

    def prices(self, provider, region):
        code, answer = self.run('history', '--provider', provider, '--region', region)
        return [point['usd_per_hour'] for offer in answer['offers'] for point in offer['prices']] if code == 0 else []

    def downloads(self):
        folder = self.home + '/cache/rightsize/downloads'
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def check_catalogue(update, base):
    Server.files['/lambda/vms.csv'] = catalogue(23.92)
    code, said = update.run('update', '--provider', 'lambda,nebius', '--url', base + '/{}/vms.csv')
    assert code == 0 and said['imports'][0]['prices'] == 1, said
    assert [f['provider'] for f in said['failed']] == ['nebius'] and '404' in said['failed'][0]['why'], said['failed']
    assert update.downloads() == [], update.downloads()
    assert update.prices('lambda', 'region-0') == [23.92]
    # A broken file keeps yesterday's prices.
    Server.files['/lambda/vms.csv'] = b'<html>sign in</html>'
    code, said = update.run('update', '--provider', 'lambda', '--url', base + '/{}/vms.csv')
    assert code != 0 and 'SkyPilot' in said, said
    assert update.prices('lambda', 'region-0') == [23.92]


def check_resumption(update, base):
    path, body = '/lambda/vms.csv', catalogue(20, 4000)
    Server.files[path], Server.tags[path] = body, '"one"'
    Server.cut[path] = 100000
    del Server.asked[:]
    code, said = update.run('update', '--provider', 'lambda', '--url', base + '/{}/vms.csv')
    assert code == 0 and said['imports'][0]['prices'] == 4000, said
    assert [r for p, r in Server.asked if p == path] == [None, 'bytes=100000-'], Server.asked
    # The file has changed meanwhile: the download restarts and mixes nothing.
    other = catalogue(30, 3000)

    def changes():
        if len([1 for p, _ in Server.asked if p == path]) == 2:
            Server.files[path], Server.tags[path] = other, '"two"'
    Server.cut[path], Server.hooks[path] = 50000, changes
    del Server.asked[:]
    code, said = update.run('update', '--provider', 'lambda', '--url', base + '/{}/vms.csv')
    del Server.hooks[path]
    assert code == 0 and said['imports'][0]['prices'] == 3000, said
    assert update.prices('lambda', 'region-7')[-1] == 30.007, update.prices('lambda', 'region-7')


def check_pages(update, base):
    for n in range(3):
        Server.files['/azure?page=%d' % n] = page(90 + n, base + '/azure?page=%d' % (n + 1) if n < 2 else None)
    lost = Server.files.pop('/azure?page=2')
    code, said = update.run('update', '--feed', 'azure', '--url', base + '/azure?page=0')
    assert code != 0 and '404' in said, said
    assert update.downloads() != []
    Server.files['/azure?page=2'] = lost
    del Server.asked[:]
    code, said = update.run('update', '--feed', 'azure', '--url', base + '/azure?page=0')
    assert code == 0 and said['imports'][0]['prices'] == 3, said
    assert [p for p, _ in Server.asked] == ['/azure?page=2'], Server.asked  # the first two pages were kept
    Server.files['/azure?page=0'] = page(95, 'http://192.0.2.1/elsewhere')
    code, said = update.run('update', '--feed', 'azure', '--url', base + '/azure?page=0')
    assert code != 0 and 'another server' in said, said


def main():
    with served() as base, tempfile.TemporaryDirectory() as home:
        update = Update(os.path.abspath(sys.argv[1]), home)
        check_catalogue(update, base)
        check_resumption(update, base)
        check_pages(update, base)
        code, said = update.run('update', '--feed', 'gcp')
        assert code != 0 and 'prices import' in said, said
    print('updates: taken, resumed, refused as they should be')


if __name__ == '__main__':
    main()
