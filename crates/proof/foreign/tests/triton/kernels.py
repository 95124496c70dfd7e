"""Kernels of Triton, each compiled to the module of its name: python3 kernels.py (Triton 3.9, no GPU is needed)."""

import os
import re

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def softmax(out, x, n, SIZE: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, SIZE)
    here = columns < n
    values = tl.load(x + row * n + columns, mask=here, other=-float("inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * n + columns, values / tl.sum(values, axis=0), mask=here)


@triton.jit
def softmax_unmasked(out, x, n, SIZE: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, SIZE)
    values = tl.load(x + row * n + columns)
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * n + columns, values / tl.sum(values, axis=0))


@triton.jit
def total(out, x, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.atomic_add(out, tl.sum(tl.load(x + at), axis=0))


@triton.jit
def total_plain(out, x, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(out, tl.load(out) + tl.sum(tl.load(x + at), axis=0))


@triton.jit
def transpose(out, x, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tile = tl.load(x + at[:, None] * SIZE + at[None, :])
    tl.store(out + at[:, None] * SIZE + at[None, :], tl.trans(tile))


@triton.jit
def pipelined(out, x, length, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    sum = tl.zeros((SIZE,), tl.float32)
    for first in tl.range(0, length, SIZE, num_stages=3):
        sum += tl.load(x + first + at)
    tl.store(out + at, sum)


@triton.jit
def accumulate(out, x, lock, SIZE: tl.constexpr):
    """As the backward pass of Triton's tutorial on layer normalization: whoever is first stores, and the others add."""
    at = tl.arange(0, SIZE)
    part = tl.load(x + tl.program_id(0) * SIZE + at)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    count = tl.load(lock + 1)
    if count == 0:
        tl.atomic_xchg(lock + 1, 1)
    else:
        part += tl.load(out + at)
    tl.store(out + at, part)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def accumulate_unlocked(out, x, lock, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    part = tl.load(x + tl.program_id(0) * SIZE + at)
    count = tl.atomic_add(lock, 1)
    if count > 0:
        part += tl.load(out + at)
    tl.store(out + at, part)


def compile(kernel, signature, size, warps, aligned=()):
    signature = {**signature, "SIZE": "constexpr"}
    signature = {name: signature[name] for name in kernel.arg_names}
    attributes = {(kernel.arg_names.index(name),): [["tt.divisibility", 16]] for name in aligned}
    source = ASTSource(fn=kernel, signature=signature, constexprs={"SIZE": size}, attrs=attributes)
    made = triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": warps, "num_stages": 3})
    # File names lose their folders.
    text = re.sub(r'"[^"\n]*/([^"/\n]*)"', r'"\1"', made.asm["ptx"].split("\t.section")[0])
    name = kernel.__name__
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.ptx"), "w") as file:
        file.write(text)
    print(name, "has", made.metadata.shared, "bytes of shared memory")


if __name__ == "__main__":
    row = {"out": "*fp32", "x": "*fp32", "n": "i32"}
    compile(softmax, row, 128, 4)
    compile(softmax_unmasked, row, 128, 4)
    compile(total, {"out": "*i32", "x": "*i32"}, 128, 4)
    compile(total_plain, {"out": "*i32", "x": "*i32"}, 128, 4)
    compile(transpose, {"out": "*fp16", "x": "*fp16"}, 32, 4, ["out", "x"])
    compile(pipelined, {"out": "*fp32", "x": "*fp32", "length": "i32"}, 128, 1, ["x"])
    accumulated = {"out": "*fp32", "x": "*fp32", "lock": "*i32"}
    compile(accumulate, accumulated, 32, 1)
    compile(accumulate_unlocked, accumulated, 32, 1)
