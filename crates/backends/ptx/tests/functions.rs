//! The expansions of mathematical functions through ptxas: without a warning, a spill, or local memory.

mod tools;

use wattle::prelude::*;
use wattle_core::Kernel as _;
use wattle_ir::Kernel;
use wattle_ptx::Target;

macro_rules! functions {
    ($($name:ident |$x:ident, $y:ident| $value:expr;)+) => {
        $(#[kernel]
        fn $name<T: Float>(acc: &Acc, xs: Read<T>, ys: Read<T>, out: PerItem<T>) {
            for (i, item) in acc.items(&mut out) {
                let ($x, $y) = (xs[i], ys[i]);
                *item = $value;
            }
        })+

        /// A kernel for each function of floats of one type.
        fn kernels<T: Float>() -> Vec<Kernel> {
            let device = Device::simulated(0);
            let [x, y, mut out] = [(); 3].map(|()| device.alloc_zeroed::<T>(1).expect("room for a number"));
            let mut kernels = Vec::new();
            $({
                let mut kernel = $name(&x, &y, &mut out).build().expect("it verifies");
                kernel.name = format!("{}_{}", stringify!($name), T::TYPE);
                kernels.push(kernel);
            })+
            kernels
        }
    };
}
functions! {
    rsqrt |x, _y| x.rsqrt();
    exp |x, _y| x.exp();
    ln |x, _y| x.ln();
    sin |x, _y| x.sin();
    cos |x, _y| x.cos();
    tanh |x, _y| x.tanh();
    round |x, _y| x.round();
    pow |x, y| x.pow(y);
    turn |x, y| x * y.sin() + y * y.cos();
    nested |x, y| (x.sin() + y.cos()).sin();
}

#[test]
fn ptxas_takes_every_function() {
    let Some(ptxas) = tools::assembler() else { return };
    let kernels: Vec<Kernel> = kernels::<f32>().into_iter().chain(kernels::<f64>()).collect();
    for sm in [70, 80, 90, 100, 120] {
        let modules: Vec<_> = kernels.iter().map(|kernel| tools::module(kernel, &Target::new(sm))).collect();
        let (said, _) = tools::assemble(&ptxas, &tools::together(&modules), sm);
        let complaints = tools::complaints(&said, |_| false);
        assert!(complaints.is_empty(), "sm_{sm}: {complaints:#?}");
        assert!(said.matches("Used ").count() == kernels.len(), "{said}");
    }
}
