#!/usr/bin/env python3
"""Measures what data/measurements/h200-*.csv hold, on the GPU of this machine. Needs PyTorch, transformers, peft, torchvision.

    measure_speed.py train|vision|prefill OUT.csv [--model TEXT] [--seconds N]

Cases are the runs of tests/fixtures/memory/h200-*.csv (train, vision) and a grid of prompts (prefill). Weights are random.
A step is the mean over enough iterations to fill about a second, after three to warm up, with one synchronisation at the end.
A forward pass in a CUDA graph is the mean over as many replays."""
import argparse
import csv
import gc
import json
import pathlib
import time

import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIXTURES = ROOT / 'tests' / 'fixtures' / 'memory'
GPU = 'cuda'


def timed(step, warm_up=3, seconds=1.0, most=50):
    """Milliseconds of one call."""
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
    """The same inside a CUDA graph, or nothing where it cannot be captured."""
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
    document = json.loads((FIXTURES / 'models' / f'{name}.json').read_text(encoding='utf-8'))
    kind = document.pop('model_type')
    architecture = document.pop('architectures')[0]
    config = transformers.AutoConfig.for_model(kind, **document)
    config.use_cache = False
    if kind == 't5':
        config.decoder_start_token_id = config.pad_token_id = 0
    return config, getattr(transformers, architecture)


def hf_model(name, dtype):
    config, architecture = config_of(name)
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


def train_case(row):
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

    def step():
        with torch.autocast(GPU, torch.bfloat16, enabled=mode == 'amp'):
            loss = model(**data).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return {'step_ms': timed(step)}


def vision_case(row):
    import torchvision
    batch = int(row['batch'])
    convolutional = not row['model'].startswith(('vit', 'swin'))
    layout = torch.channels_last if convolutional else torch.contiguous_format
    model = getattr(torchvision.models, row['model'])().to(GPU, memory_format=layout)
    images = torch.randn(batch, 3, 224, 224, device=GPU).to(memory_format=layout)
    labels = torch.zeros(batch, dtype=torch.long, device=GPU)
    optimizer = (torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9) if row['optimizer'] == 'sgd-momentum'
                 else torch.optim.AdamW(model.parameters(), lr=1e-5))

    def step():
        with torch.autocast(GPU, torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    result = {'step_ms': timed(step, seconds=0.7)}
    model = model.eval().to(torch.bfloat16)
    images = images.to(torch.bfloat16)
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


def cases(kind):
    if kind == 'train':
        return read(FIXTURES / 'h200-training.csv'), train_case
    if kind == 'vision':
        return read(FIXTURES / 'h200-vision.csv'), vision_case
    names = ['llama2-7b', 'llama3.2-1b', 'llama3.2-3b', 'mistral-7b', 'qwen3-1.7b', 'gemma2-2b', 'phi3-mini', 'pythia-1.4b', 'opt-1.3b',
             'mixtral-small', 'qwen3moe-small']
    return [{'model': name, 'batch': str(b), 'sequence': str(s)} for name in names
            for b, s in ((1, 512), (1, 2048), (8, 1024), (32, 512))], prefill_case


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('kind', choices=['train', 'vision', 'prefill'])
    parser.add_argument('out')
    parser.add_argument('--model', default='', help='only models whose name holds this')
    parser.add_argument('--seconds', type=float, default=1e9, help='start no case after so long')
    args = parser.parse_args()
    rows, measure = cases(args.kind)
    start, writer = time.time(), None
    with open(args.out, 'w', newline='', encoding='utf-8') as file:
        for row in (r for r in rows if args.model in r['model']):
            kept = {k: row[k] for k in ('model', 'mode', 'batch', 'sequence', 'checkpoint', 'optimizer') if k in row}
            if time.time() - start > args.seconds:
                print(f'stopped before {kept}')
                break
            try:
                found = measure(row)
            except Exception as error:  # the next case may still run
                print(f'{kept}: {type(error).__name__} {str(error)[:200]}')
                continue
            finally:
                gc.collect()
                torch.cuda.empty_cache()
            kept.update({k: f'{v:.4f}' for k, v in found.items()})
            if writer is None:
                writer = csv.DictWriter(file, kept.keys())
                writer.writeheader()
            writer.writerow(kept)
            file.flush()
    print(f'{args.kind}: {time.time() - start:.0f} s')


if __name__ == '__main__':
    main()
