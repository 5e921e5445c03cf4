#!/usr/bin/env python3
"""Measures the rows of data/measurements/*-h200*.csv on the GPU of this machine. Needs PyTorch, transformers, peft, torchvision.

    measure_speed.py train|vision|large|prefill|mixtures|compile|check|products|grouped|adapted|casts|logits|widths OUT.csv [--model TEXT] [--seconds N]

Cases are the runs of tests/fixtures/memory/h200-*.csv (train, vision), a grid of prompts (prefill), and the lists MIXTURES and COMPILED
below (large: image models at batch sizes limited by the GPU; mixtures, compile); the last two also write peak memory, and the time per kernel
to OUT.csv.json. check: the runs of train-hf-h200-predicted.csv. products: the linear layers of a 70B model, forward and for
either gradient, in bf16 and fp8. grouped: the same for the experts of a layer. adapted: which weights peft's "all-linear" adapts. casts: the
operations between bf16 and fp8 products, fused by torch.compile. logits: a loss over a vocabulary, forward and backward, operation by operation
and compiled. widths: products with a number of outputs that is not a multiple of eight. Weights are random.
A step is the mean over enough iterations to fill about a second, after three to warm up, with one synchronization at the end.
A forward pass in a CUDA graph is the mean over as many replays."""
import argparse
import csv
import gc
import json
import pathlib
import time

import torch

# model, mode, batch, sequence, checkpoint
MIXTURES = [('mixtral-8x7b-2l', 'full', 2, 2048, 'no'), ('mixtral-8x7b-2l', 'full', 8, 1024, 'yes'), ('mixtral-8x7b-2l', 'lora', 2, 2048, 'no'),
            ('olmoe-4l', 'full', 4, 2048, 'no'), ('olmoe-4l', 'full', 1, 2048, 'no'), ('olmoe-4l', 'full', 16, 1024, 'yes'),
            ('olmoe-4l', 'lora', 4, 2048, 'no'), ('qwen3-30b-4l', 'full', 4, 2048, 'no'), ('qwen3-30b-4l', 'lora', 2, 2048, 'no'),
            ('mixtral-e16', 'full', 4, 2048, 'no'), ('mixtral-e16', 'lora', 4, 2048, 'no'), ('gpt-oss-20b-4l', 'full', 2, 1024, 'no'),
            ('gpt-oss-20b-4l', 'full', 4, 512, 'yes'), ('olmoe-4l', 'amp', 2, 1024, 'no'), ('mixtral-8x7b-2l', 'full', 8, 2048, 'no'),
            ('qwen3-30b-4l', 'full', 1, 1024, 'no')]
COMPILED = [('llama3.2-1b-6l', 'full', 8, 2048, 'no'), ('qwen3-1.7b-8l', 'full', 8, 1024, 'no'), ('mistral-7b-4l', 'full', 4, 2048, 'no'),
            ('gemma2-2b-6l', 'full', 8, 1024, 'no'), ('llama3.2-1b-6l', 'amp', 4, 2048, 'no'), ('llama3.2-1b-6l', 'full', 16, 2048, 'yes'),
            ('gpt2-xl-8l', 'full', 8, 1024, 'no'), ('pythia-1.4b-8l', 'full', 8, 1024, 'no'), ('qwen2.5-1.5b-8l', 'full', 8, 1024, 'no'),
            ('llama3.2-1b-12l', 'full', 4, 2048, 'no'), ('phi3-mini-8l', 'full', 4, 2048, 'no'), ('llama2-7b-4l', 'full', 2, 2048, 'no'),
            ('llama3.2-3b-6l', 'amp', 4, 2048, 'yes'), ('opt-1.3b-8l', 'full', 8, 1024, 'no'), ('gemma-2b-6l', 'full', 8, 1024, 'no'),
            ('llama3.2-1b-6l', 'full', 1, 512, 'no'), ('llama3.2-1b-6l', 'lora', 4, 2048, 'no'), ('bert-large-8l', 'full', 32, 512, 'no')]

# model, precision, batches
LARGE = [('resnet18', 'amp', (512,)), ('resnet34', 'amp', (512,)), ('resnet50', 'amp', (128, 256)), ('resnet50', 'fp32', (128,)),
         ('resnet50', 'bf16', (256,)), ('resnet101', 'amp', (128, 256)), ('resnet101', 'fp32', (64,)), ('resnet152', 'amp', (256,)),
         ('vit_b_16', 'amp', (128, 256)), ('vit_b_16', 'fp32', (128,)), ('vit_b_16', 'bf16', (256,)), ('vit_b_32', 'amp', (512,)),
         ('vit_l_16', 'amp', (64, 128)), ('vit_l_16', 'fp32', (32,)), ('vit_l_32', 'amp', (256,)), ('vit_h_14', 'amp', (32,)),
         ('swin_t', 'amp', (128, 256)), ('swin_t', 'fp32', (64,)), ('swin_s', 'amp', (128,)), ('swin_b', 'amp', (128,)), ('swin_b', 'bf16', (128,)),
         ('convnext_tiny', 'amp', (128, 256)), ('convnext_tiny', 'fp32', (64,)), ('convnext_small', 'amp', (128,)), ('convnext_base', 'amp', (128,)),
         ('convnext_base', 'bf16', (128,)), ('convnext_large', 'amp', (64,)), ('efficientnet_b0', 'amp', (256, 512)), ('efficientnet_b0', 'fp32', (128,)),
         ('efficientnet_b0', 'bf16', (512,)), ('efficientnet_b1', 'amp', (256,)), ('efficientnet_b2', 'amp', (256,)), ('efficientnet_b4', 'amp', (128,)),
         ('efficientnet_b5', 'amp', (128,)), ('efficientnet_b7', 'amp', (64,))]

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIXTURES = ROOT / 'tests' / 'fixtures' / 'memory'
GPU = 'cuda'


def timed(step, warm_up=3, seconds=1.0, most=50):
    """The time of one call in milliseconds."""
    for _ in range(warm_up):
        step()
    torch.cuda.synchronize()
    start = time.perf_counter()
    step()
    torch.cuda.synchronize()
    count = int(min(most, max(3, seconds / (time.perf_counter() - start))))
    start = time.perf_counter()
    for _ in range(count):
        step()
    torch.cuda.synchronize()
    return 1e3 * (time.perf_counter() - start) / count


def in_graph(step):
    """The same inside a CUDA graph, or nothing if it cannot be captured."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return timed(graph.replay)


def read(path):
    with open(path, newline='', encoding='utf-8') as file:
        return list(csv.DictReader(line for line in file if not line.startswith('#')))


def config_of(name):
    import transformers
    folders = (FIXTURES / 'models', ROOT / 'data' / 'measurements' / 'models')
    path = next(folder / f'{name}.json' for folder in folders if (folder / f'{name}.json').exists())
    document = json.loads(path.read_text(encoding='utf-8'))
    kind = document.pop('model_type')
    architecture = document.pop('architectures')[0]
    config = transformers.AutoConfig.for_model(kind, **document)
    config.use_cache = False
    if kind == 't5':
        config.decoder_start_token_id = config.pad_token_id = 0
    return config, getattr(transformers, architecture)


def hf_model(name, dtype):
    config, architecture = config_of(name)
    config._attn_implementation = 'eager' if config.model_type == 'gpt_oss' else 'sdpa'
    torch.set_default_dtype(dtype)
    try:
        with torch.device(GPU):
            model = architecture._from_config(config) if hasattr(architecture, '_from_config') else architecture(config)
    finally:
        torch.set_default_dtype(torch.float32)
    return config, model.to(GPU, dtype), architecture.__name__


def inputs_of(config, architecture, batch, sequence, dtype):
    if 'Image' in architecture:
        return {'pixel_values': torch.randn(batch, 3, config.image_size, config.image_size, device=GPU, dtype=dtype),
                'labels': torch.zeros(batch, dtype=torch.long, device=GPU)}
    tokens = torch.randint(0, min(config.vocab_size, 30000), (batch, sequence), device=GPU)
    if 'SequenceClassification' in architecture:
        return {'input_ids': tokens, 'labels': torch.zeros(batch, dtype=torch.long, device=GPU)}
    return {'input_ids': tokens, 'labels': tokens}


def kernel_times(step):
    """Milliseconds of GPU time per kernel in one step."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        step()
        torch.cuda.synchronize()
    times = {e.key[:90]: [round(e.self_device_time_total / 1e3, 4), e.count] for e in profile.key_averages() if e.self_device_time_total > 0}
    return dict(sorted(times.items(), key=lambda item: -item[1][0])[:60])


def saved_tensors(loss, model):
    """The tensors that a compiled forward pass keeps for its backward pass, by shape."""
    weights = {p.data_ptr() for p in model.parameters()}
    kept = {}
    for tensor in getattr(loss.grad_fn, 'saved_tensors', []):
        if tensor is None or tensor.data_ptr() in weights:
            continue
        key = f'{tuple(tensor.shape)} {tensor.dtype}'.replace('torch.', '')
        kept[key] = kept.get(key, 0) + 1
    return kept


DETAILS = []


def detailed_case(row):
    """Time, peak memory according to torch and the driver, and the breakdown of both."""
    step, forward, model = train_step(row, row['compile'] == 'yes')
    began = time.time()
    result = {'step_ms': timed(step, seconds=0.8)}
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    loss = forward()
    result['static_gib'] = before / 2**30
    result['forward_gib'] = torch.cuda.memory_allocated() / 2**30
    result['forward_peak_gib'] = torch.cuda.max_memory_allocated() / 2**30
    details = dict(row, saved=saved_tensors(loss, model))
    del loss
    torch.cuda.reset_peak_memory_stats()
    step()
    torch.cuda.synchronize()
    result['alloc_gib'] = torch.cuda.max_memory_allocated() / 2**30
    result['reserved_gib'] = torch.cuda.max_memory_reserved() / 2**30
    free, total = torch.cuda.mem_get_info()
    result['device_gib'] = (total - free) / 2**30
    details['kernels'] = kernel_times(step)
    details['took'] = time.time() - began
    details['params'] = sum(p.numel() for p in model.parameters())
    details.update(result)
    DETAILS.append(details)
    return result


def train_case(row):
    return {'step_ms': timed(train_step(row, False)[0])}


def train_step(row, compiled):
    """A training step, its forward pass alone, and the model."""
    mode = row['mode']
    dtype = torch.float32 if mode == 'amp' else torch.bfloat16
    config, model, architecture = hf_model(row['model'], dtype)
    model.train()
    if row['checkpoint'] == 'yes':
        model.gradient_checkpointing_enable()
    if mode == 'lora':
        import peft
        kind = peft.LoraConfig(r=16, lora_alpha=16, target_modules='all-linear')
        model = peft.get_peft_model(model, kind)
        if row['checkpoint'] == 'yes':
            model.enable_input_require_grads()
    batch, sequence = int(row['batch']), int(row['sequence'])
    data = inputs_of(config, architecture, batch, sequence, torch.float32 if mode == 'amp' else torch.bfloat16)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-5, fused=True)

    run = torch.compile(model) if compiled else model

    def forward():
        with torch.autocast(GPU, torch.bfloat16, enabled=mode == 'amp'):
            return run(**data).loss

    def step():
        forward().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return step, forward, model


def vision_case(row):
    import torchvision
    batch = int(row['batch'])
    convolutional = not row['model'].startswith(('vit', 'swin'))
    layout = torch.channels_last if convolutional else torch.contiguous_format
    mode = row.get('mode', 'amp')
    dtype = torch.bfloat16 if mode == 'bf16' else torch.float32
    model = getattr(torchvision.models, row['model'])().to(GPU, dtype, memory_format=layout)
    images = torch.randn(batch, 3, 224, 224, device=GPU, dtype=dtype).to(memory_format=layout)
    labels = torch.zeros(batch, dtype=torch.long, device=GPU)
    optimizer = (torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9) if row['optimizer'] == 'sgd-momentum'
                 else torch.optim.AdamW(model.parameters(), lr=1e-5))

    def step():
        with torch.autocast(GPU, torch.bfloat16, enabled=mode == 'amp'):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    result = {'step_ms': timed(step, seconds=0.7)}
    served = torch.float32 if mode == 'fp32' else torch.bfloat16
    model = model.eval().to(served)
    images = images.to(served)
    with torch.inference_mode():
        result['eager_ms'] = timed(lambda: model(images), seconds=0.3)
        result['graph_ms'] = in_graph(lambda: model(images))
    return result


def prefill_case(row):
    batch, sequence = int(row['batch']), int(row['sequence'])
    config, model, _ = hf_model(row['model'], torch.bfloat16)
    model.eval()
    model.config.use_cache = True
    tokens = torch.randint(0, 30000, (batch, sequence), device=GPU)
    with torch.inference_mode():
        return {'prefill_ms': timed(lambda: model(input_ids=tokens, logits_to_keep=1), seconds=0.5)}


# name, outputs, inputs: the linear layers of Llama 70B, of a shard of it, and of Llama 8B's MLP
LINEAR = [('qkv', 10240, 8192), ('proj', 8192, 8192), ('up', 57344, 8192), ('down', 8192, 28672), ('up/4', 14336, 8192), ('down/4', 8192, 7168),
          ('up 8b', 28672, 4096), ('down 8b', 4096, 14336)]


def product_case(row):
    """Milliseconds of forward, input gradient and weight gradient. fp8 operands have the layout of its kernels: both contracted along their rows."""
    m, n, k = int(row['tokens']), int(row['outputs']), int(row['inputs'])
    result = {}
    for part, (rows, columns, depth) in {'forward': (m, n, k), 'input_gradient': (m, k, n), 'weight_gradient': (n, k, m)}.items():
        a, b = torch.randn(rows, depth, device=GPU, dtype=torch.bfloat16), torch.randn(columns, depth, device=GPU, dtype=torch.bfloat16)
        if row['mode'] == 'bf16':
            # The layout of autograd: x W^T, g W, g^T x.
            if part != 'forward':
                b = b.t().contiguous().t()
            if part == 'weight_gradient':
                a = a.t().contiguous().t()
            result[part + '_ms'] = timed(lambda: a @ b.t(), seconds=0.6, most=2000)
            continue
        one = torch.ones((), device=GPU)
        a, b = a.to(torch.float8_e4m3fn if part == 'forward' else torch.float8_e5m2), b.to(torch.float8_e4m3fn)
        out = torch.float32 if part == 'weight_gradient' else torch.bfloat16  # weight gradients are accumulated in fp32
        result[part + '_ms'] = timed(lambda: torch._scaled_mm(a, b.t(), one, one, out_dtype=out, use_fast_accum=part == 'forward'), seconds=0.6, most=2000)
    return result


STREAMS = 4  # Transformer Engine runs the products of experts in this many streams


def grouped_case(row):
    """Milliseconds of forward, input gradients and weight gradients of the experts of a layer, each product measured separately."""
    h, f, m, experts, bf16 = *(int(row[k]) for k in ('hidden', 'width', 'rows', 'experts')), row['mode'] == 'bf16'
    streams, one, result = [torch.cuda.Stream() for _ in range(STREAMS)], torch.ones((), device=GPU), {}
    for part in ('forward', 'input_gradient', 'weight_gradient'):
        total = 0.0
        for outputs, inputs in ((2 * f, h), (h, f)):
            rows, columns, depth = {'forward': (m, outputs, inputs), 'input_gradient': (m, inputs, outputs), 'weight_gradient': (outputs, inputs, m)}[part]
            a = [torch.randn(rows, depth, device=GPU, dtype=torch.bfloat16) for _ in range(experts)]
            b = [torch.randn(columns, depth, device=GPU, dtype=torch.bfloat16) for _ in range(experts)]
            if bf16:
                a = [x.t().contiguous().t() for x in a] if part == 'weight_gradient' else a
                b = [x.t().contiguous().t() for x in b] if part != 'forward' else b
            else:
                a = [x.to(torch.float8_e4m3fn if part == 'forward' else torch.float8_e5m2) for x in a]
                b = [x.to(torch.float8_e4m3fn) for x in b]
            out = torch.float32 if part == 'weight_gradient' else torch.bfloat16

            def step():
                current = torch.cuda.current_stream()
                for stream in streams:
                    stream.wait_stream(current)
                for e in range(experts):
                    with torch.cuda.stream(streams[e % STREAMS]):
                        if bf16:
                            torch.mm(a[e], b[e].t())
                        else:
                            torch._scaled_mm(a[e], b[e].t(), one, one, out_dtype=out, use_fast_accum=part == 'forward')
                for stream in streams:
                    current.wait_stream(stream)
            total += in_graph(step)
        result[part + '_ms'] = total
    return result


def cast_case(row):
    """Milliseconds, and the achieved share of 4.8 TB/s."""
    rows, columns = int(row['tokens']), int(row['outputs'])
    x, scale = torch.randn(rows, columns, device=GPU, dtype=torch.bfloat16), torch.ones((), device=GPU)

    def cast(v):
        return (v * scale).to(torch.float8_e4m3fn)
    kinds = {'largest': (lambda v: v.abs().amax(), 2), 'cast': (cast, 3), 'cast both ways': (lambda v: (cast(v), cast(v).t().contiguous()), 4),
             'gate, cast both ways': (lambda v: (lambda g: (cast(g), cast(g).t().contiguous()))(torch.nn.functional.silu(v[:, ::2]) * v[:, 1::2]), 3),
             'add': (lambda v: v + 1.0, 4)}
    run, size = kinds[row['model']]
    fused = torch.compile(run)
    ms = timed(lambda: fused(x), seconds=0.4, most=2000)
    return {'ms': ms, 'share': size * rows * columns / ms / 1e6 / 4800}


def logits_case(row):
    """Milliseconds of a 32-bit cross entropy over 16-bit logits, forward and backward, and the equivalent bytes per logit at 80 % of 4.8 TB/s."""
    tokens, words = int(row['tokens']), int(row['outputs'])
    logits, labels = torch.randn(tokens, words, device=GPU, dtype=torch.bfloat16), torch.randint(0, words, (tokens,), device=GPU)

    def loss(z):
        z = z.float()
        z = z - z.max(-1, keepdim=True).values
        picked = z.gather(1, labels[:, None])
        powers = z.exp()
        total = powers.sum(-1, keepdim=True)
        gradient = powers / total
        gradient[torch.arange(tokens, device=GPU), labels] -= 1.0
        return (total.log() - picked).mean(), (gradient * (1.0 / tokens)).to(torch.bfloat16)
    run = torch.compile(loss) if row['mode'] == 'compiled' else loss
    ms = timed(lambda: run(logits), seconds=0.5, most=500)
    return {'ms': ms, 'bytes': ms * 1e-3 * 0.8 * 4.8e12 / (tokens * words)}


# Families with stacked experts, in the smallest possible size.
STACKED = {'mixtral': {'num_local_experts': 4}, 'qwen2_moe': {'num_experts': 4, 'moe_intermediate_size': 64, 'shared_expert_intermediate_size': 64},
           'qwen3_moe': {'num_experts': 4, 'moe_intermediate_size': 64}, 'olmoe': {'num_experts': 4}, 'gpt_oss': {'num_local_experts': 4},
           'deepseek_v2': {'n_routed_experts': 4, 'moe_intermediate_size': 64, 'first_k_dense_replace': 0, 'n_shared_experts': 1, 'num_experts_per_tok': 2, 'topk_method': 'greedy'},
           'deepseek_v3': {'n_routed_experts': 8, 'moe_intermediate_size': 64, 'first_k_dense_replace': 0, 'n_group': 1, 'topk_group': 1, 'num_experts_per_tok': 2},
           'glm4_moe': {'n_routed_experts': 4, 'moe_intermediate_size': 64, 'first_k_dense_replace': 0, 'num_experts_per_tok': 2},
           'minimax_m2': {'num_local_experts': 4}, 'qwen3_next': {'num_experts': 4, 'moe_intermediate_size': 64, 'shared_expert_intermediate_size': 64},
           'llama4_text': {'num_local_experts': 4}}


def adapted_case(row):
    import peft
    import transformers
    config = transformers.AutoConfig.for_model(row['model'], hidden_size=128, intermediate_size=64, num_hidden_layers=1, num_attention_heads=4,
                                               num_key_value_heads=2, vocab_size=256, **STACKED[row['model']])
    model = peft.get_peft_model(transformers.AutoModelForCausalLM.from_config(config), peft.LoraConfig(r=4, target_modules='all-linear'))
    names = sorted({name.split('layers.0.')[-1].split('.lora')[0] for name, p in model.named_parameters() if p.requires_grad})
    print(row['model'], 'peft', peft.__version__, sum(p.numel() for p in model.parameters() if p.requires_grad), names, flush=True)
    return {'trained': sum(p.numel() for p in model.parameters() if p.requires_grad)}


def cases(kind):
    if kind == 'check':
        return read(ROOT / 'data' / 'measurements' / 'train-hf-h200-predicted.csv'), detailed_case
    if kind == 'products':
        return [{'model': name, 'mode': mode, 'tokens': str(t), 'outputs': str(n), 'inputs': str(k)} for name, n, k in LINEAR for mode in ('bf16', 'fp8')
                for t in (8192, 2048)], product_case
    if kind == 'grouped':
        shapes = ((2048, 768), (7168, 2048), (6144, 2048), (3584, 2560), (4096, 1536), (2880, 2880), (6144, 16384))
        return [{'model': f'{h} x {f}', 'mode': mode, 'hidden': str(h), 'width': str(f), 'experts': str(e), 'rows': str(r)} for mode in ('bf16', 'fp8') for h, f in shapes
                for e, r in ((4, 256), (4, 1024), (4, 4096), (16, 256), (16, 1024), (16, 4096), (1, 8192), (1, 16384)) if e * h * f < 1.5e9], grouped_case
    if kind == 'casts':
        return [{'model': name, 'tokens': str(t), 'outputs': str(n)} for name in ('add', 'largest', 'cast', 'cast both ways', 'gate, cast both ways')
                for t, n in ((8192, 4096), (8192, 8192), (8192, 28672), (2048, 8192))], cast_case
    if kind == 'logits':
        return [{'model': 'loss', 'mode': mode, 'tokens': str(t), 'outputs': str(n)} for mode in ('eager', 'compiled') for t, n in ((8192, 128256), (4096, 32000), (8192, 50304))], logits_case
    if kind == 'widths':
        return [{'model': 'head', 'mode': 'bf16', 'tokens': '4096', 'outputs': str(n), 'inputs': str(k)} for k in (2048, 4096)
                for n in (32000, 32001, 32002, 32004, 32008, 50257, 50258, 50260, 50264, 151665, 151666, 151668)], product_case
    if kind == 'adapted':
        return [{'model': name} for name in STACKED], adapted_case
    if kind == 'train':
        return read(FIXTURES / 'h200-training.csv'), train_case
    if kind == 'vision':
        return read(FIXTURES / 'h200-vision.csv'), vision_case
    if kind == 'large':
        return [{'model': name, 'mode': mode, 'batch': str(b), 'optimizer': 'sgd-momentum' if name.startswith('resnet') else ''}
                for name, mode, batches in LARGE for b in batches], vision_case
    if kind in ('mixtures', 'compile'):
        names = ('model', 'mode', 'batch', 'sequence', 'checkpoint')
        rows = COMPILED if kind == 'compile' else MIXTURES
        return [dict(zip(names, map(str, row)), compile='yes' if kind == 'compile' else 'no') for row in rows], detailed_case
    names = ['llama2-7b', 'llama3.2-1b', 'llama3.2-3b', 'mistral-7b', 'qwen3-1.7b', 'gemma2-2b', 'phi3-mini', 'pythia-1.4b', 'opt-1.3b',
             'mixtral-small', 'qwen3moe-small']
    return [{'model': name, 'batch': str(b), 'sequence': str(s)} for name in names
            for b, s in ((1, 512), (1, 2048), (8, 1024), (32, 512))], prefill_case


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('kind', choices=['train', 'vision', 'large', 'prefill', 'mixtures', 'compile', 'check', 'products', 'grouped', 'adapted', 'casts', 'logits', 'widths'])
    parser.add_argument('out')
    parser.add_argument('--model', default='', help='only models whose name holds this')
    parser.add_argument('--seconds', type=float, default=1e9, help='start no case after so long')
    args = parser.parse_args()
    rows, measure = cases(args.kind)
    start, writer = time.time(), None
    with open(args.out, 'w', newline='', encoding='utf-8') as file:
        for row in (r for r in rows if args.model in r['model']):
            kept = {k: row[k] for k in ('model', 'mode', 'batch', 'sequence', 'checkpoint', 'compile', 'optimizer', 'tokens', 'outputs', 'inputs', 'hidden', 'width', 'experts', 'rows') if k in row}
            if time.time() - start > args.seconds:
                print(f'stopped before {kept}')
                break
            try:
                found = measure(row)
            except Exception as error:  # the next case may still run
                print(f'{kept}: {type(error).__name__} {str(error)[:200]}')
                continue
            finally:
                torch._dynamo.reset()
                gc.collect()
                torch.cuda.empty_cache()
            kept.update({k: f'{v:.4f}' for k, v in found.items()})
            if writer is None:
                writer = csv.DictWriter(file, kept.keys())
                writer.writeheader()
            writer.writerow(kept)
            file.flush()
            if DETAILS:
                pathlib.Path(args.out + '.json').write_text(json.dumps(DETAILS), encoding='utf-8')
    print(f'{args.kind}: {time.time() - start:.0f} s')


if __name__ == '__main__':
    main()
