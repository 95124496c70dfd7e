//! Each kernel alone, measured by criterion: for watching one of them while it is worked on.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use wattle::prelude::*;
use wattle_bench::peers::{Arrays, Threads};
use wattle_kernels::stream::Stream;

/// A kernel that does nothing.
#[kernel]
fn nothing(_acc: &Acc) {}

fn devices() -> [(Device, Threads); 2] {
    [(Device::host_serial(), Threads::One), (Device::host(), Threads::All)]
}

fn triad(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("triad");
    group.sample_size(20);
    for n in [1usize << 14, 1 << 25] {
        group.throughput(Throughput::Bytes(3 * 4 * n as u64));
        for (device, threads) in devices() {
            let Ok(mut ours) = Stream::<f32>::new(&device, n) else { continue };
            group.bench_function(BenchmarkId::new(device.name(), n), |bencher| bencher.iter(|| ours.triad()));
            let mut theirs = Arrays::<f32>::new(n);
            let peer = if threads == Threads::One { "plain loop" } else { "rayon" };
            group.bench_function(BenchmarkId::new(peer, n), |bencher| bencher.iter(|| theirs.triad(threads)));
        }
    }
    group.finish();
}

fn launch(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("empty launch");
    for (device, _) in devices() {
        let Ok(queue) = device.queue() else { continue };
        group.bench_function(device.name(), |bencher| {
            bencher.iter(|| black_box(queue.launch(FrameSpec::new(64, 64), nothing())));
        });
    }
    group.finish();
}

criterion_group!(benches, triad, launch);
criterion_main!(benches);
