#![doc = include_str!("stream.md")]

use std::time::Instant;

use wattle::DeviceKind;
use wattle::prelude::*;

use crate::reduce::{MAX_THREADS, block_sum, shape, thread_dot};

/// Copy, mul, add, triad and dot, as BabelStream has them: how fast memory is.
///
/// All five kernels in both precisions, five times over, checked as BabelStream checks.
///
/// # Errors
/// What the devices say; there is less memory than three arrays of `f64`, and one on the host to check them.
#[scenario(
    name = "stream",
    sizes = Sizes { full: 1 << 22, small: 1 << 11, proof: 4 },
    documentation = include_str!("stream.md"),
)]
pub fn stream(device: &Device, n: usize) -> Result<Summary> {
    let array = (n as u64).saturating_mul(size_of::<f64>() as u64);
    device.needs_memory(array.saturating_mul(3), array)?;
    let single = run::<f32>(device, n)?;
    let double = run::<f64>(device, n)?;
    let mut summary = Summary::new(format!("the five kernels on {n} f32 and f64, {} times", repeats(n)));
    if device.properties().kind != DeviceKind::Simulated {
        let rates = format!("; triad at {:.1} and {:.1} GB/s", single.triad_rate, double.triad_rate);
        summary.did.push_str(&rates);
    }
    for (name, run, most) in [("f32", single, 1e-4), ("f64", double, 1e-8)] {
        let Run { array_error, dot_error, .. } = run;
        summary.check(array_error <= most, &format!("the {name} arrays are right to {most:e}"), || {
            format!("the mean error is {array_error:e}")
        })?;
        summary.check(dot_error <= most, &format!("the {name} dot product is right to {most:e}"), || {
            format!("it is off by {dot_error:e}")
        })?;
    }
    Ok(summary)
}

/// `c = a`.
#[kernel]
pub fn copy<T: Float>(acc: &Acc, a: Read<T>, c: PerItem<T>) {
    for (i, c) in acc.items(&mut c) {
        *c = a[i];
    }
}

/// `b = scalar · c`.
#[kernel]
pub fn mul<T: Float>(acc: &Acc, scalar: T, c: Read<T>, b: PerItem<T>) {
    for (i, b) in acc.items(&mut b) {
        *b = scalar * c[i];
    }
}

/// `c = a + b`.
#[kernel]
pub fn add<T: Float>(acc: &Acc, a: Read<T>, b: Read<T>, c: PerItem<T>) {
    for (i, c) in acc.items(&mut c) {
        *c = a[i] + b[i];
    }
}

/// `a = b + scalar · c`.
#[kernel]
pub fn triad<T: Float>(acc: &Acc, scalar: T, b: Read<T>, c: Read<T>, a: PerItem<T>) {
    for (i, a) in acc.items(&mut a) {
        *a = b[i] + scalar * c[i];
    }
}

/// `a · b`, in a part for each block; `rows` is as [`shape`] says. A thread keeps `SUMS` running sums.
#[kernel]
pub fn dot<T: Float, const SUMS: usize>(acc: &Acc, rows: u32, a: Read<T>, b: Read<T>, parts: Shared<T>) {
    let tile = acc.shared::<T, MAX_THREADS>();
    let share = thread_dot::<T, SUMS>(acc, a, b, rows);
    let part = block_sum(acc, tile, share);
    if acc.thread_in_block() == 0 {
        parts[acc.block_in_grid()] = part;
    }
}

/// BabelStream's three arrays and its scalar.
pub struct Stream<T: Float> {
    queue: Queue,
    scalar: T,
    a: Buffer<T>,
    b: Buffer<T>,
    c: Buffer<T>,
    parts: Buffer<T>,
}

/// The first values of the arrays, and the scalar.
const BEGIN: [f64; 3] = [0.1, 0.2, 0.0];
const SCALAR: f64 = 0.4;

impl<T: Float> Stream<T> {
    /// Arrays of `n` elements, with BabelStream's values.
    ///
    /// # Errors
    /// The device has less memory; `n` is zero.
    pub fn new(device: &Device, n: usize) -> Result<Self> {
        let queue = device.queue()?;
        let array = |value: f64| -> Result<Buffer<T>> {
            let mut array = device.alloc::<T>(n)?;
            queue.fill(&mut array, T::cast_from(value))?;
            Ok(array)
        };
        let (a, b, c) = (array(BEGIN[0])?, array(BEGIN[1])?, array(BEGIN[2])?);
        let parts = device.alloc_zeroed(shape(n).0)?;
        Ok(Stream { scalar: T::cast_from(SCALAR), queue, a, b, c, parts })
    }

    /// Sets the arrays and the scalar.
    ///
    /// # Errors
    /// A length is not that of the arrays.
    pub fn set(&mut self, a: &[T], b: &[T], c: &[T], scalar: T) -> Result<()> {
        self.scalar = scalar;
        self.a.write(&self.queue, a)?;
        self.b.write(&self.queue, b)?;
        self.c.write(&self.queue, c)
    }

    /// Reads the three arrays.
    ///
    /// # Errors
    /// The device cannot read them; all functions here return the device's errors.
    pub fn arrays(&self) -> Result<[Vec<T>; 3]> {
        Ok([self.a.read(&self.queue)?, self.b.read(&self.queue)?, self.c.read(&self.queue)?])
    }

    fn spec(&self) -> FrameSpec<1> {
        let n = self.a.len();
        let extent = match n {
            0..=15 => 2,
            16..=65535 => 32,
            _ => 1024,
        };
        FrameSpec::cover(n, extent)
    }

    /// `c = a`.
    ///
    /// # Errors
    /// The device cannot run the kernel.
    pub fn copy(&mut self) -> Result<()> {
        self.queue.launch(self.spec(), copy(&self.a, &mut self.c))
    }

    /// `b = scalar · c`.
    ///
    /// # Errors
    /// The device cannot run the kernel.
    pub fn mul(&mut self) -> Result<()> {
        self.queue.launch(self.spec(), mul(self.scalar, &self.c, &mut self.b))
    }

    /// `c = a + b`.
    ///
    /// # Errors
    /// The device cannot run the kernel.
    pub fn add(&mut self) -> Result<()> {
        self.queue.launch(self.spec(), add(&self.a, &self.b, &mut self.c))
    }

    /// `a = b + scalar · c`.
    ///
    /// # Errors
    /// The device cannot run the kernel.
    pub fn triad(&mut self) -> Result<()> {
        self.queue.launch(self.spec(), triad(self.scalar, &self.b, &self.c, &mut self.a))
    }

    /// `a · b`; the parts of the blocks are added up on the host.
    ///
    /// # Errors
    /// The device cannot run the kernel, or read its result.
    pub fn dot(&self) -> Result<T> {
        let (frames, extent, rows) = shape(self.a.len());
        let spec = FrameSpec::new(frames, extent);
        // Two loads and a product for each sum: as many sums as leave room for them in a core's vector registers.
        if size_of::<T>() == 4 {
            self.queue.launch(spec, dot::<T, 16>(rows, &self.a, &self.b, &self.parts))?;
        } else {
            self.queue.launch(spec, dot::<T, 8>(rows, &self.a, &self.b, &self.parts))?;
        }
        Ok(self.parts.read(&self.queue)?.into_iter().fold(T::ZERO, T::add))
    }
}

/// How often the kernels run: five times, and once in a proof, where that is enough.
fn repeats(n: usize) -> usize {
    if n < 16 { 1 } else { 5 }
}

/// The results of a run in one precision.
struct Run {
    array_error: f64,
    dot_error: f64,
    /// The rate of triad, in GB/s.
    triad_rate: f64,
}

fn run<T: Float>(device: &Device, n: usize) -> Result<Run> {
    let mut stream = Stream::<T>::new(device, n)?;
    let [mut a, mut b, mut c] = BEGIN.map(T::cast_from::<f64>);
    let mut dot = T::ZERO;
    let mut seconds = f64::INFINITY;
    for _ in 0..repeats(n) {
        stream.copy()?;
        stream.mul()?;
        stream.add()?;
        let begin = Instant::now();
        stream.triad()?;
        seconds = seconds.min(begin.elapsed().as_secs_f64());
        dot = stream.dot()?;
        c = a;
        b = stream.scalar.mul(c);
        c = a.add(b);
        a = b.add(stream.scalar.mul(c));
    }
    let mut array_error = 0.0f64;
    for (array, gold) in [(&stream.a, a), (&stream.b, b), (&stream.c, c)] {
        let found = array.read(&stream.queue)?;
        let total: f64 = found.iter().map(|&x| (f64::cast_from(x) - f64::cast_from(gold)).abs()).sum();
        array_error = array_error.max(total / n as f64 / f64::cast_from(gold));
    }
    let gold = f64::cast_from(a) * f64::cast_from(b) * n as f64;
    let dot_error = (f64::cast_from(dot) - gold).abs() / gold;
    let triad_rate = (3 * n * size_of::<T>()) as f64 / seconds * 1e-9;
    Ok(Run { array_error, dot_error, triad_rate })
}
