//! Loops over slices beside those of the standard library's functions, in turns: `cargo bench -p wattle-math`.

use std::hint::black_box;
use std::time::Instant;

const COUNT: usize = 1 << 16;
const ROUNDS: usize = 61;

macro_rules! loops {
    ($($name:ident $t:ident $from:literal..$to:literal |$x:ident| $ours:expr, $std:expr;)+) => {$(
        mod $name {
            #[inline(never)]
            pub fn ours(from: &[$t], to: &mut [$t]) {
                from.iter().zip(to).for_each(|(&$x, to)| *to = $ours);
            }
            #[inline(never)]
            pub fn std(from: &[$t], to: &mut [$t]) {
                from.iter().zip(to).for_each(|(&$x, to)| *to = $std);
            }
        }
    )+

    fn main() {$(
        let from: Vec<$t> = (0..COUNT).map(|at| $from + at as $t * ($to - $from) / COUNT as $t).collect();
        let (mut to, mut times) = (vec![0.0; COUNT], [Vec::new(), Vec::new()]);
        for _ in 0..ROUNDS {
            for (function, times) in [$name::ours as fn(&[$t], &mut [$t]), $name::std].into_iter().zip(&mut times) {
                let start = Instant::now();
                function(black_box(&from), &mut to);
                times.push(start.elapsed().as_secs_f64() / COUNT as f64 * 1e9);
                black_box(&to);
            }
        }
        times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
        let [ours, std] = times.map(|times| times[ROUNDS / 2]);
        println!("{:8} {ours:6.2} ns, the standard library's {std:6.2} ns: {:.2}", stringify!($name), ours / std);
    )+}};
}

loops! {
    exp_f32 f32 -10.0..10.0 |x| wattle_math::exp(x), x.exp();
    ln_f32 f32 0.01..10.0 |x| wattle_math::ln(x), x.ln();
    sin_f32 f32 -10.0..10.0 |x| wattle_math::sin(x), x.sin();
    tanh_f32 f32 -10.0..10.0 |x| wattle_math::tanh(x), x.tanh();
    atan_f32 f32 -10.0..10.0 |x| wattle_math::atan(x), x.atan();
    cbrt_f32 f32 -10.0..10.0 |x| wattle_math::cbrt(x), x.cbrt();
    pow_f32 f32 0.01..10.0 |x| wattle_math::pow(x, 1.37), x.powf(1.37);
    exp_f64 f64 -10.0..10.0 |x| wattle_math::exp(x), x.exp();
    ln_f64 f64 0.01..10.0 |x| wattle_math::ln(x), x.ln();
    sin_f64 f64 -10.0..10.0 |x| wattle_math::sin(x), x.sin();
    tanh_f64 f64 -10.0..10.0 |x| wattle_math::tanh(x), x.tanh();
    atan_f64 f64 -10.0..10.0 |x| wattle_math::atan(x), x.atan();
    pow_f64 f64 0.01..10.0 |x| wattle_math::pow(x, 1.37), x.powf(1.37);
}
