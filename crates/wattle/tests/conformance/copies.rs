//! Copies, fills and allocations, against a plain model.

use wattle::ErrorKind;
use wattle::ir::{Dim, Rank};
use wattle::prelude::*;

use crate::harness::{Case, Outcome, kind, not_possible, refused, says, size};
use crate::random::Random;

pub const CASES: &[Case] = &[
    ("copies in 1 dimension are a plain array's", |device| copies::<1>(device, [40])),
    ("copies in 2 dimensions are a plain array's", |device| copies::<2>(device, [6, 7])),
    ("copies in 3 dimensions are a plain array's", |device| copies::<3>(device, [4, 3, 5])),
    ("copies in 4 dimensions are a plain array's", |device| copies::<4>(device, [3, 2, 4, 2])),
    ("every element type", element_types),
    ("alloc_zeroed, alloc_like, from_slice", allocations),
    ("unified and host-mapped memory", host_memory),
    ("regions of regions of a kernel", views_in_kernels),
    ("copies between all devices", between_devices),
];

/// A box of indices and its elements' places in an array of this extent, in row-major order.
struct Part<const D: usize> {
    begin: [usize; D],
    end: [usize; D],
    places: Vec<usize>,
}

fn part<const D: usize>(random: &mut Random, extent: [usize; D]) -> Part<D> {
    let ranges = extent.map(|extent| random.range(extent));
    of(extent, ranges.map(|range| range.0), ranges.map(|range| range.1))
}

fn of<const D: usize>(extent: [usize; D], begin: [usize; D], end: [usize; D]) -> Part<D> {
    let places = (0..extent.iter().product())
        .filter(|&place| {
            let mut rest = place;
            (0..D).rev().all(|d| {
                let index = rest % extent[d];
                rest /= extent[d];
                (begin[d]..end[d]).contains(&index)
            })
        })
        .collect();
    Part { begin, end, places }
}

/// A box of the same extent elsewhere.
fn moved<const D: usize>(random: &mut Random, extent: [usize; D], part: &Part<D>) -> Part<D> {
    let begin: [usize; D] = std::array::from_fn(|d| random.below(extent[d] - (part.end[d] - part.begin[d]) + 1));
    let end = std::array::from_fn(|d| begin[d] + part.end[d] - part.begin[d]);
    of(extent, begin, end)
}

fn copies<const D: usize>(device: &Device, extent: [usize; D]) -> Outcome
where
    Dim<D>: Rank,
{
    let mut random = Random(D as u64);
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        let mut buffers = [device.alloc_zeroed_nd::<u32, D>(extent)?, device.alloc_nd::<u32, D>(extent)?];
        let len = buffers[0].len();
        assert_eq!((buffers[0].extent().get(), len), (extent, extent.iter().product()));
        let start = Vec::from_iter(0..len as u32);
        buffers[1].write(&queue, &start)?;
        let mut models = [vec![0u32; len], start];
        for round in 0..size(device, 400, 40) as u32 {
            let part = part(&mut random, extent);
            let (a, b) = if random.below(2) == 0 { (0, 1) } else { (1, 0) };
            match random.below(5) {
                0 => {
                    queue.fill(buffers[a].region_mut(part.begin, part.end)?, round + 1000)?;
                    part.places.iter().for_each(|&place| models[a][place] = round + 1000);
                }
                1 => {
                    let values = Vec::from_iter((0..part.places.len() as u32).map(|i| i * 7 + round));
                    queue.copy_from_host(buffers[a].region_mut(part.begin, part.end)?, &values)?;
                    part.places.iter().zip(values).for_each(|(&place, value)| models[a][place] = value);
                }
                2 => {
                    let mut seen = vec![0; part.places.len()];
                    queue.copy_to_host(&mut seen, &buffers[a].region(part.begin, part.end)?)?;
                    assert_eq!(seen, Vec::from_iter(part.places.iter().map(|&place| models[a][place])));
                }
                3 => {
                    let to = moved(&mut random, extent, &part);
                    let from = buffers[b].region(part.begin, part.end)?;
                    queue.copy(buffers[a].region_mut(to.begin, to.end)?, &from)?;
                    for (&to, &from) in to.places.iter().zip(&part.places) {
                        models[a][to] = models[b][from];
                    }
                }
                _ => {
                    // Within one buffer, if the two parts are apart.
                    let to = moved(&mut random, extent, &part);
                    if to.places.iter().any(|place| part.places.contains(place)) {
                        continue;
                    }
                    let from = buffers[a].region(part.begin, part.end)?;
                    queue.copy(buffers[a].region_mut(to.begin, to.end)?, &from)?;
                    for (&to, &from) in to.places.iter().zip(&part.places) {
                        models[a][to] = models[a][from];
                    }
                }
            }
        }
        for (buffer, model) in buffers.iter().zip(&models) {
            assert_eq!(buffer.read(&queue)?, *model);
        }
    }
    Ok(())
}

fn element_types(device: &Device) -> Outcome {
    let queue = device.queue()?;
    macro_rules! each {
        ($($t:ty: $values:expr),+) => {$({
            let values: [$t; 3] = $values;
            let mut x = device.from_slice(&values)?;
            assert_eq!(x.read(&queue)?.map_bits(), values.to_vec().map_bits(), stringify!($t));
            queue.fill(x.slice_mut(1..2)?, values[0])?;
            let expected = vec![values[0], values[0], values[2]];
            assert_eq!(x.read(&queue)?.map_bits(), expected.map_bits(), stringify!($t));
        })+};
    }
    each!(
        u8: [1, 255, 7], i8: [-1, -128, 127], u16: [1, 65535, 7], i16: [-1, -32768, 5],
        u32: [1, u32::MAX, 7], i32: [-1, i32::MIN, 7], u64: [1, u64::MAX, 7], i64: [-1, i64::MIN, 7],
        f32: [-0.0, f32::NAN, f32::MIN_POSITIVE], f64: [-0.0, f64::INFINITY, 5e-324]
    );
    Ok(())
}

/// Values by their bits, so that a NaN is equal to itself, and -0 not to 0.
trait MapBits {
    fn map_bits(self) -> Vec<u64>;
}

impl<T: Number> MapBits for Vec<T> {
    fn map_bits(self) -> Vec<u64> {
        self.into_iter().map(|value| value.to_raw()).collect()
    }
}

fn allocations(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let zeroed = device.alloc_zeroed_nd::<f64, 3>([2, 3, 4])?;
    assert_eq!(zeroed.read(&queue)?, [0.0; 24]);
    let like = device.alloc_like(&zeroed)?;
    assert_eq!((like.extent(), like.len(), like.is_empty()), (zeroed.extent(), 24, false));
    assert_eq!(like.device(), device);
    let other = Device::host_serial().alloc_like(&zeroed)?;
    assert_eq!(other.device(), &Device::host_serial());
    assert_eq!(device.from_slice(&[1u8, 2, 3])?.read(&queue)?, [1, 2, 3]);
    Ok(())
}

fn host_memory(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let mut unmapped = None;
    for kind in ["unified", "host-mapped"] {
        let allocated = match kind {
            "unified" => device.alloc_unified::<u32, 2>([2, 3]),
            _ => device.alloc_host_mapped::<u32, 2>([2, 3]),
        };
        let mut x = match allocated {
            Ok(x) => x,
            Err(error) => {
                kind!(error, ErrorKind::Capability { .. });
                unmapped = Some(error);
                continue;
            }
        };
        // Such memory is copied as any buffer is.
        queue.fill(x.region_mut([0, 1], [2, 2])?, 5)?;
        assert_eq!(x.read(&queue)?, [0, 5, 0, 0, 5, 0]);
        if let Err(error) = x.map() {
            kind!(error, ErrorKind::Capability { .. });
            says(&error, &[device.name(), "map"]);
            unmapped = Some(error);
            continue;
        }
        let mut guard = x.map_mut()?;
        assert_eq!(*guard, [0, 5, 0, 0, 5, 0]);
        guard[5] = 9;
        drop(guard);
        queue.launch(FrameSpec::cover([2, 3], [1, 2]), crate::kernels::owns_box(&mut x))?;
        assert_eq!(*x.map()?, [1, 6, 1, 1, 6, 10]);
        assert_eq!(x.read(&queue)?, [1, 6, 1, 1, 6, 10]);
    }
    unmapped.map_or(Ok(()), |error| not_possible(error.to_string()))
}

/// Each element becomes its index in the view.
#[kernel]
fn numbers_1(acc: &Acc, x: PerItem<u32>) {
    for (i, x) in acc.items(&mut x) {
        *x = 100 + i;
    }
}

#[kernel]
fn numbers_3(acc: &Acc<3>, x: PerItem<u32, 3>) {
    for ([i, j, k], x) in acc.items(&mut x) {
        *x = 1000 + i * 100 + j * 10 + k;
    }
}

#[kernel]
fn shifts_2(acc: &Acc<2>, from: Read<u32, 2>, to: Shared<u32, 2>) {
    for [i, j] in acc.indices(THREADS_IN_GRID, [0, 0]..from.extent()) {
        to[[i, j]] = from[[i, j]] + 1;
    }
}

fn views_in_kernels(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let mut x = device.alloc_zeroed::<u32>(9)?;
    queue.launch(FrameSpec::cover(4, 2), numbers_1(x.slice_mut(3..7)?))?;
    assert_eq!(x.read(&queue)?, [0, 0, 0, 100, 101, 102, 103, 0, 0]);
    let extent = [3, 4, 5];
    let mut y = device.alloc_zeroed_nd::<u32, 3>(extent)?;
    let inner = of(extent, [1, 1, 2], [3, 3, 5]);
    queue.launch(FrameSpec::cover([2, 2, 3], [1, 2, 2]), numbers_3(y.region_mut(inner.begin, inner.end)?))?;
    let mut expected = vec![0; 60];
    for (number, &place) in inner.places.iter().enumerate() {
        expected[place] = 1000 + number as u32 / 6 * 100 + number as u32 / 3 % 2 * 10 + number as u32 % 3;
    }
    assert_eq!(y.read(&queue)?, expected);
    // Two boxes of one buffer, one read and one written.
    let mut z = device.alloc_zeroed_nd::<u32, 2>([4, 6])?;
    z.write(&queue, &Vec::from_iter(0..24))?;
    let (from, to) = (z.region([1, 0], [3, 3])?, z.region([1, 3], [3, 6])?);
    queue.launch(FrameSpec::cover([2, 3], [2, 2]), shifts_2(&from, &to))?;
    let mut expected = Vec::from_iter(0..24);
    expected[9..12].copy_from_slice(&[7, 8, 9]);
    expected[15..18].copy_from_slice(&[13, 14, 15]);
    assert_eq!(z.read(&queue)?, expected);
    assert_eq!(to.read(&queue)?, [7, 8, 9, 13, 14, 15]);
    z.region_mut([2, 3], [3, 6])?.write(&queue, &[1, 2, 3])?;
    assert_eq!(to.read(&queue)?, [7, 8, 9, 1, 2, 3]);
    Ok(())
}

fn between_devices(device: &Device) -> Outcome {
    for other in Device::all() {
        let mut x = device.alloc_nd::<i64, 2>([3, 4])?;
        let mut y = other.alloc_zeroed_nd::<i64, 2>([5, 5])?;
        let values = Vec::from_iter(-6..6);
        x.write(&device.queue()?, &values)?;
        // On a queue of either device.
        device.queue()?.copy(y.region_mut([1, 1], [4, 5])?, &x)?;
        other.queue()?.copy(x.region_mut([0, 0], [2, 2])?, &y.region([2, 3], [4, 5])?)?;
        let expected = [0, 1, -4, -3, 4, 5, 0, 1, 2, 3, 4, 5];
        assert_eq!(x.read(&device.queue()?)?, expected, "{}", other.name());
    }
    // The shape must be the same, not only the number of elements.
    let queue = device.queue()?;
    let (mut x, y) = (device.alloc_nd::<u8, 2>([2, 6])?, device.alloc_nd::<u8, 2>([3, 4])?);
    let error = refused(queue.copy(&mut x, &y));
    kind!(error, ErrorKind::CopyShape { .. });
    says(&error, &["[3, 4]", "[2, 6]", "copies.rs"]);
    Ok(())
}
