//! The same work as plain Rust: loops over slices, alone or under rayon.

use rayon::prelude::*;
use wattle::ir::Float;

/// BabelStream's arrays, on the heap.
pub struct Arrays<T> {
    /// BabelStream's array `a`: what `copy` and `add` read, and `triad` writes.
    pub a: Vec<T>,
    /// BabelStream's array `b`: what `mul` writes.
    pub b: Vec<T>,
    /// BabelStream's array `c`: what `copy` and `add` write.
    pub c: Vec<T>,
    /// The factor of `mul` and `triad`.
    pub scalar: T,
}

/// Whether a peer runs alone or under rayon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// The peer runs on one thread.
    One,
    /// The peer runs on rayon's pool.
    All,
}

impl<T: Float + std::ops::Add<Output = T> + std::ops::Mul<Output = T>> Arrays<T> {
    /// Arrays of `n` elements with BabelStream's values.
    pub fn new(n: usize) -> Self {
        let of = |x: f64| T::cast_from(x);
        Arrays { a: vec![of(0.1); n], b: vec![of(0.2); n], c: vec![of(0.0); n], scalar: of(0.4) }
    }

    /// The length of a piece that rayon hands out: there are four for each thread, as the pool device's blocks are.
    fn piece(&self, threads: Threads) -> usize {
        match threads {
            Threads::One => self.a.len(),
            Threads::All => self.a.len().div_ceil(4 * rayon::current_num_threads()),
        }
    }

    /// Computes `to[i] = f(x[i], y[i])` for every item, in pieces of that many items if on all threads.
    fn zip(threads: Threads, piece: usize, to: &mut [T], x: &[T], y: &[T], f: impl Fn(T, T) -> T + Sync) {
        let run = |((to, x), y): ((&mut [T], &[T]), &[T])| {
            for ((to, x), y) in to.iter_mut().zip(x).zip(y) {
                *to = f(*x, *y);
            }
        };
        match threads {
            Threads::One => run(((to, x), y)),
            Threads::All => to.par_chunks_mut(piece).zip(x.par_chunks(piece)).zip(y.par_chunks(piece)).for_each(run),
        }
    }

    /// `c = a`.
    pub fn copy(&mut self, threads: Threads) {
        let piece = self.piece(threads);
        Self::zip(threads, piece, &mut self.c, &self.a, &self.a, |a, _| a);
    }

    /// `b = scalar · c`.
    pub fn mul(&mut self, threads: Threads) {
        let (piece, scalar) = (self.piece(threads), self.scalar);
        Self::zip(threads, piece, &mut self.b, &self.c, &self.c, |c, _| scalar * c);
    }

    /// `c = a + b`.
    pub fn add(&mut self, threads: Threads) {
        let piece = self.piece(threads);
        Self::zip(threads, piece, &mut self.c, &self.a, &self.b, |a, b| a + b);
    }

    /// `a = b + scalar · c`.
    pub fn triad(&mut self, threads: Threads) {
        let (piece, scalar) = (self.piece(threads), self.scalar);
        Self::zip(threads, piece, &mut self.a, &self.b, &self.c, |b, c| b + scalar * c);
    }

    /// `a · b`, with 32 running sums, so that additions do not wait for each other.
    pub fn dot(&self, threads: Threads) -> T {
        let piece = self.piece(threads);
        let run = |(a, b): (&[T], &[T])| lanes(a, b, |a, b| a * b);
        match threads {
            Threads::One => run((&self.a, &self.b)),
            Threads::All => {
                self.a.par_chunks(piece).zip(self.b.par_chunks(piece)).map(run).reduce(|| T::ZERO, |x, y| x + y)
            }
        }
    }
}

fn lanes<T: Float + std::ops::Add<Output = T>>(a: &[T], b: &[T], f: impl Fn(T, T) -> T) -> T {
    const LANES: usize = 32;
    let mut sums = [T::ZERO; LANES];
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        for k in 0..LANES {
            sums[k] = sums[k] + f(a[k], b[k]);
        }
    }
    let rest = a.chunks_exact(LANES).remainder().iter().zip(b.chunks_exact(LANES).remainder());
    let rest = rest.fold(T::ZERO, |sum, (a, b)| sum + f(*a, *b));
    sums.into_iter().fold(rest, |sum, x| sum + x)
}

/// The sum of `values`, by rayon's `par_chunks` or alone, with 32 running sums in each piece.
pub fn sum(values: &[f32], threads: Threads) -> f32 {
    match threads {
        Threads::One => lanes(values, values, |x, _| x),
        Threads::All => {
            let piece = values.len().div_ceil(4 * rayon::current_num_threads());
            values.par_chunks(piece).map(|piece| lanes(piece, piece, |x, _| x)).sum()
        }
    }
}

/// Calls `row` with each row of `to` and its number.
fn rows<T: Send>(threads: Threads, columns: usize, to: &mut [T], row: impl Fn(usize, &mut [T]) + Sync) {
    match threads {
        Threads::One => to.chunks_mut(columns).enumerate().for_each(|(y, to)| row(y, to)),
        Threads::All => to.par_chunks_mut(columns).enumerate().for_each(|(y, to)| row(y, to)),
    }
}

/// One step of heat over a square plate, whose edge stays as it is.
pub fn stencil(threads: Threads, side: usize, from: &[f32], to: &mut [f32]) {
    rows(threads, side, to, |y, to| {
        let here = &from[y * side..][..side];
        if y == 0 || y == side - 1 {
            return to.copy_from_slice(here);
        }
        let (up, down) = (&from[(y - 1) * side..][..side], &from[(y + 1) * side..][..side]);
        (to[0], to[side - 1]) = (here[0], here[side - 1]);
        for x in 1..side - 1 {
            let around = up[x] + down[x] + here[x - 1] + here[x + 1];
            to[x] = here[x] + 0.125 * (around - 4.0 * here[x]);
        }
    });
}

/// The rows of a square matrix as columns.
pub fn transposition(threads: Threads, side: usize, from: &[f32], to: &mut [f32]) {
    rows(threads, side, to, |y, to| {
        for (x, to) in to.iter_mut().enumerate() {
            *to = from[x * side + y];
        }
    });
}

/// How often each byte comes in `from`.
pub fn histogram(threads: Threads, from: &[u8], to: &mut [u32]) {
    let count = |from: &[u8]| {
        let mut counts = [0u32; 256];
        for &byte in from {
            counts[usize::from(byte)] += 1;
        }
        counts
    };
    let counts = match threads {
        Threads::One => count(from),
        Threads::All => {
            let piece = from.len().div_ceil(4 * rayon::current_num_threads());
            let add = |x: [u32; 256], y: [u32; 256]| std::array::from_fn(|i| x[i] + y[i]);
            from.par_chunks(piece).map(count).reduce(|| [0; 256], add)
        }
    };
    to.copy_from_slice(&counts);
}

/// Running sums within each frame of `FRAME` elements, by steps of doubled distance between two arrays.
pub fn phases<const FRAME: usize>(threads: Threads, from: &[u32], to: &mut [u32]) {
    rows(threads, FRAME, to, |frame, to| {
        let mut here = [0; FRAME];
        here[..to.len()].copy_from_slice(&from[frame * FRAME..][..to.len()]);
        let mut distance = 1;
        while distance < FRAME {
            let mut next = here;
            for t in distance..FRAME {
                next[t] = here[t].wrapping_add(here[t - distance]);
            }
            here = next;
            distance *= 2;
        }
        to.copy_from_slice(&here[..to.len()]);
    });
}

/// The square of a matrix.
pub fn product(threads: Threads, side: usize, from: &[f32], to: &mut [f32]) {
    rows(threads, side, to, |y, to| {
        to.fill(0.0);
        for (k, &factor) in from[y * side..][..side].iter().enumerate() {
            for (to, x) in to.iter_mut().zip(&from[k * side..][..side]) {
                *to += factor * x;
            }
        }
    });
}

/// The pull of all bodies on each, along the first axis; `from` has their coordinates, one axis after the other.
pub fn bodies(threads: Threads, from: &[f32], to: &mut [f32]) {
    let n = to.len();
    let (xs, ys, zs) = (&from[..n], &from[n..2 * n], &from[2 * n..]);
    rows(threads, n.div_ceil(64), to, |row, to| {
        for (i, to) in to.iter_mut().enumerate() {
            let i = row * n.div_ceil(64) + i;
            let (x, y, z) = (xs[i], ys[i], zs[i]);
            let mut sum = 0.0;
            for ((&xj, &yj), &zj) in xs.iter().zip(ys).zip(zs) {
                let (dx, dy, dz) = (xj - x, yj - y, zj - z);
                let square = dx * dx + dy * dy + dz * dz + 1e-3;
                sum += dx / (square * square.sqrt());
            }
            *to = sum;
        }
    });
}
