//! The design's example, and one kernel with each thing of the subset.
use wattle::prelude::*;

/// Block 0 publishes a payload; block 2 waits for the flag, then reads it.
#[kernel]
fn producer_consumer(acc: &Acc, payload: Shared<u32>, ready: Atomic<u32>, mismatches: Atomic<u32>) {
    let thread = acc.thread_in_grid();
    if thread == 0 {
        payload[0] = 42;
        acc.mem_fence(Scope::Device, Order::Release);
        ready.exchange(0, 1);
    } else if thread == 2 {
        while ready.compare_exchange(0, 0, 0) == 0 {}
        acc.mem_fence(Scope::Device, Order::Acquire);
        if payload[0] != 42 {
            mismatches.fetch_add(0, 1);
        }
    }
}

fn publication(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let payload = device.alloc::<u32>(1)?;
    let ready = device.alloc_zeroed::<u32>(1)?;
    let mismatches = device.alloc_zeroed::<u32>(1)?;
    queue.launch(ThreadSpec::new(3, 1), producer_consumer(&payload, &ready, &mismatches))?;
    assert_eq!(mismatches.read(&queue)?, [0]);
    Ok(())
}

#[kernel]
fn saxpy<T: Float>(acc: &Acc, a: T, x: Read<T>, y: PerItem<T>) {
    for (i, y) in acc.items(&mut y) {
        *y = a * x[i] + *y;
    }
}

mod functions {
    use wattle::prelude::*;

    /// The greatest common divisor.
    #[device_fn]
    pub fn gcd(mut a: u32, mut b: u32) -> u32 {
        if b == 0 {
            return a;
        }
        while b != 0 {
            let rest = a % b;
            a = b;
            b = rest;
        }
        a
    }

    #[device_fn]
    pub fn weigh<const N: usize>(values: [f32; N], weight: f32) -> (f32, u32) {
        let mut sum = 0.0;
        for k in 0..N as u32 {
            sum += values[k] * weight;
        }
        (sum, N as u32)
    }
}
use functions::gcd;

#[kernel]
fn everything<const N: usize, const BIG: bool>(acc: &Acc<2>, scale: f32, input: Read<f32>, out: PerItem<f32, 2>, counts: Atomic<u32>) {
    let tile = acc.shared::<u32, 64>();
    let [rows, columns] = out.extent();
    for ([y, x], v) in acc.items(&mut out) {
        let number = y * columns + x;
        let lanes = input.lanes::<4>(0);
        let (sum, n) = functions::weigh::<4>(lanes, scale);
        let mut acc_value = sum + n as f32;
        let class = match number % 5 {
            0 => 1,
            1 | 2 => 2,
            3..=4 => 3,
            _ => 4,
        };
        acc_value += class as f32;
        if BIG && number > 3 {
            acc_value = acc_value.max(1.0).min(1e6);
        }
        let mut k = 0;
        'outer: loop {
            for j in 0..10u32 {
                if j == 7 {
                    break 'outer;
                }
                if j % 2 == 1 {
                    continue;
                }
                k += j;
            }
            k = k + 1;
        }
        *v = acc_value + gcd(number, 12) as f32 + k as f32 + rows as f32 * 0.0 + N as f32;
        counts.fetch_add(0, 1);
    }
    for i in acc.indices(LINEAR_THREADS_IN_BLOCK, 0..64) {
        tile[i] = i;
    }
    acc.sync_block();
    assert!(tile[63] == 63, "the tile is filled");
}

fn main_scenario(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let x = device.from_slice(&[1.0f32; 1000])?;
    let mut y = device.from_slice(&[2.0f32; 1000])?;
    queue.launch(FrameSpec::cover(1000, 64), saxpy(3.0, &x, &mut y))?;
    assert_eq!(y.read(&queue)?, [5.0; 1000]);
    let mut out = device.alloc_nd::<f32, 2>([6, 7])?;
    let counts = device.alloc_zeroed::<u32>(1)?;
    queue.launch(FrameSpec::cover([6, 7], [2, 4]), everything::<3, true>(0.5, &x, &mut out, &counts))?;
    assert_eq!(counts.read(&queue)?, [42]);
    let out = out.read(&queue)?;
    assert_eq!(out[0], 2.0 + 4.0 + 1.0 + 12.0 + 12.0 + 3.0);
    assert_eq!(out[8], 2.0 + 4.0 + 3.0 + 4.0 + 12.0 + 3.0);
    Ok(())
}

#[test]
fn all_devices() -> Result<()> {
    for device in Device::all() {
        publication(&device)?;
        main_scenario(&device)?;
    }
    Ok(())
}

#[test]
fn queues_and_faults() -> Result<()> {
    let device = Device::host();
    let q1 = device.queue_non_blocking()?;
    let q2 = device.queue_non_blocking()?;
    let x = device.from_slice(&[1.0f32; 1000])?;
    let mut y = device.from_slice(&[2.0f32; 1200])?;
    q1.launch(FrameSpec::cover(1000, 64), saxpy(3.0, &x, &mut y))?;
    let e = q2.launch(FrameSpec::cover(1000, 64), saxpy(3.0, &x, &mut y)).unwrap_err();
    println!("{e}");
    let e = q1.wait().unwrap_err();
    println!("{e}");
    Ok(())
}
