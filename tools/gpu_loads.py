#!/usr/bin/env python3
"""Runs GPU loads of known kinds, for recordings with a known verdict. Needs PyTorch and transformers.

    gpu_loads.py LOAD [SECONDS]            run one load (the table at the end lists the names)
    gpu_loads.py all PROGRAM FOLDER        run every load and record each with `PROGRAM profile --record FOLDER/LOAD.csv`
"""
import os
import subprocess
import sys
import time

import torch

GPU = 'cuda'


def until(seconds, step):
    """Calls step() repeatedly, without letting the queue of launched work grow long."""
    end, count = time.time() + seconds, 0
    while time.time() < end:
        step()
        count += 1
        if count % 16 == 0:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    return count


def gemm(dtype):
    n = 8192
    a, b = torch.randn(n, n, device=GPU, dtype=dtype), torch.randn(n, n, device=GPU, dtype=dtype)
    return lambda: torch.mm(a, b)


def gemm_tf32():
    torch.backends.cuda.matmul.allow_tf32 = True
    return gemm(torch.float32)


def gemm_fp32():
    torch.backends.cuda.matmul.allow_tf32 = False
    return gemm(torch.float32)


def gemm_fp8():
    n = 8192
    a = torch.randn(n, n, device=GPU).to(torch.float8_e4m3fn)
    b = torch.randn(n, n, device=GPU).to(torch.float8_e4m3fn).t()
    one = torch.ones((), device=GPU)
    return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)


def gemm_int8():
    n = 8192
    a = torch.randint(-100, 100, (n, n), device=GPU, dtype=torch.int8)
    b = torch.randint(-100, 100, (n, n), device=GPU, dtype=torch.int8).t()
    return lambda: torch._int_mm(a, b)


_models = {}


def llama(layers=32, hidden=4096):
    from transformers import LlamaConfig, LlamaForCausalLM
    key = (layers, hidden)
    if key not in _models:
        config = LlamaConfig(hidden_size=hidden, intermediate_size=hidden * 7 // 2, num_hidden_layers=layers,
                             num_attention_heads=hidden // 128, num_key_value_heads=max(1, hidden // 512), vocab_size=32000)
        torch.set_default_dtype(torch.bfloat16)
        with torch.device(GPU):
            _models[key] = LlamaForCausalLM(config)
        torch.set_default_dtype(torch.float32)
    return _models[key]


def prefill():
    model = llama()
    ids = torch.randint(0, 32000, (4, 2048), device=GPU)

    def step():
        with torch.no_grad():
            model(ids, logits_to_keep=1, use_cache=False)
    return step


def decode(batch, context=512, model=None):
    """Decodes one token at a time with Hugging Face's growing cache, launched from Python."""
    model = model or llama()
    state = {}

    def step():
        with torch.no_grad():
            if state.get('n', 0) % 256 == 0:
                ids = torch.randint(0, 32000, (batch, context), device=GPU)
                state['cache'] = model(ids, use_cache=True, logits_to_keep=1).past_key_values
                state['next'] = ids[:, :1]
            out = model(state['next'], past_key_values=state['cache'], use_cache=True)
            state['next'] = out.logits[:, -1:].argmax(-1)
            state['n'] = state.get('n', 0) + 1
    return step


def decode_graph(batch, context=512):
    """The same in a CUDA graph: the matrix-vector products of every layer's weights."""
    model = llama()
    x = torch.randn(batch, 1, 4096, device=GPU, dtype=torch.bfloat16)
    layers = model.model.layers

    def forward(h):
        for layer in layers:
            a = layer.self_attn
            h = h + a.o_proj(torch.nn.functional.silu(a.q_proj(layer.input_layernorm(h))) )
            a.k_proj(h), a.v_proj(h)
            h = h + layer.mlp(layer.post_attention_layernorm(h))
        return model.lm_head(h)
    with torch.no_grad():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            forward(x)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            forward(x)
    return graph.replay


def llm_train():
    model = llama(layers=12, hidden=2048)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    ids = torch.randint(0, 32000, (8, 1024), device=GPU)

    def step():
        model(ids, labels=ids).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return step


def resnet(stall=0.0, batch=256):
    import torchvision
    model = torchvision.models.resnet50().to(GPU).to(memory_format=torch.channels_last).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x = torch.randn(batch, 3, 224, 224, device=GPU).to(memory_format=torch.channels_last)
    y = torch.randint(0, 1000, (batch,), device=GPU)

    def step():
        with torch.autocast('cuda', dtype=torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if stall:
            torch.cuda.synchronize()
            time.sleep(stall)
    return step


def bert(rest):
    from transformers import BertConfig, BertModel
    config = BertConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096)
    model = BertModel(config).to(GPU).to(torch.bfloat16).eval()
    ids = torch.randint(0, 30000, (1, 128), device=GPU)

    def step():
        with torch.no_grad():
            model(ids)
        torch.cuda.synchronize()
        if rest:
            time.sleep(rest)
    return step


def bursts(on, off):
    work = gemm(torch.bfloat16)

    def step():
        until(on, work)
        time.sleep(off)
    return step


def held():
    _models['held'] = torch.empty(20 << 30, device=GPU, dtype=torch.uint8).fill_(1)
    torch.cuda.synchronize()
    return lambda: time.sleep(0.1)


def h2d():
    host = torch.empty(1 << 30, dtype=torch.uint8).pin_memory()
    device = torch.empty(1 << 30, dtype=torch.uint8, device=GPU)
    return lambda: device.copy_(host, non_blocking=True)


def d2h():
    host = torch.empty(1 << 30, dtype=torch.uint8).pin_memory()
    device = torch.empty(1 << 30, dtype=torch.uint8, device=GPU)
    return lambda: host.copy_(device, non_blocking=True)


def tiny():
    x = torch.zeros(1024, device=GPU)

    def step():
        for _ in range(100):
            x.add_(1)
    return step


def copy():
    a, b = torch.empty(2 << 30, dtype=torch.uint8, device=GPU), torch.empty(2 << 30, dtype=torch.uint8, device=GPU)
    return lambda: b.copy_(a)


def small_train():
    model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(40)]).to(GPU)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.randn(64, 256, device=GPU)

    def step():
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    return step


# The first word is the expected verdict.
LOADS = {
    'compute-gemm-bf16': lambda: gemm(torch.bfloat16), 'compute-gemm-fp8': gemm_fp8, 'compute-gemm-int8': gemm_int8,
    'compute-gemm-tf32': gemm_tf32, 'compute-gemm-fp32': gemm_fp32, 'compute-prefill': prefill,
    'launch-decode-eager-b1': lambda: decode(1), 'launch-decode-eager-b8': lambda: decode(8), 'launch-decode-eager-b32': lambda: decode(32),
    'launch-decode-eager-b64': lambda: decode(64, 2048),
    'memory-decode-graph-b1': lambda: decode_graph(1), 'memory-decode-graph-b32': lambda: decode_graph(32),
    'compute-llm-train': llm_train, 'memory-resnet50-train': resnet, 'input-resnet50-stalled-100ms': lambda: resnet(0.1, 64),
    'input-resnet50-stalled-400ms': lambda: resnet(0.4), 'input-resnet50-stalled-30ms': lambda: resnet(0.03, 64),
    'underused-bert-50ms': lambda: bert(0.05), 'underused-bert-200ms': lambda: bert(0.2), 'underused-bert-15ms': lambda: bert(0.015),
    'launch-bert-b1-loop': lambda: bert(0), 'bursty-2s-2s': lambda: bursts(2, 2), 'bursty-1s-2s': lambda: bursts(1, 2),
    'bursty-300ms-700ms': lambda: bursts(0.3, 0.7), 'pcie-h2d': h2d, 'pcie-d2h': d2h, 'launch-tiny': tiny,
    'launch-small-train': small_train, 'memory-copy': copy, 'held-20gib': held,
}


def record_all(program, folder):
    os.makedirs(folder, exist_ok=True)
    for name, make in LOADS.items():
        begin = time.time()
        try:
            step = make()
            for _ in range(2 if not name.startswith(('bursty', 'held')) else 0):
                step()
            torch.cuda.synchronize()
            recorder = None
            if not name.startswith('held'):
                until(0.5 if not name.startswith('bursty') else 0, step)
            recorder = subprocess.Popen([program, 'profile', '--duration', '6s', '--record', f'{folder}/{name}.csv', '--format', 'json'],
                                        stdout=open(f'{folder}/{name}.json', 'w'))
            count = until(6.6, step)
            recorder.wait()
            print(f'{name}: {count} steps in 6.6 s, {time.time() - begin:.1f} s in all', flush=True)
            del step
        except Exception as e:
            print(f'{name}: {type(e).__name__}: {str(e)[:200]}', flush=True)
        if name in ('memory-decode-graph-b32', 'compute-llm-train', 'held-20gib'):
            _models.clear()
        torch.cuda.empty_cache()


if __name__ == '__main__':
    if sys.argv[1] == 'all':
        record_all(sys.argv[2], sys.argv[3])
    else:
        step = LOADS[sys.argv[1]]()
        print(until(float(sys.argv[2]) if len(sys.argv) > 2 else 10, step), 'steps')
