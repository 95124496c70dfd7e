//! The same work as plain Rust: loops over slices, alone or under rayon.

use rayon::prelude::*;
use wattle::ir::Float;

/// BabelStream's arrays, on the heap.
pub struct Arrays<T> {
    /// The first array.
    pub a: Vec<T>,
    /// The second array.
    pub b: Vec<T>,
    /// The third array.
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

    /// `to[i] = f(x[i], y[i])`.
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
