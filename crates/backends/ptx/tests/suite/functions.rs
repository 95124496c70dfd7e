//! The expansions of mathematical functions through ptxas: without a warning, a spill, or local memory.

use wattle::prelude::*;
use wattle_core::Kernel as _;
use wattle_ir::Kernel;
use wattle_ptx::PtxTarget;

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
    powi |x, y| x.powi(y as i32);
    cbrt |x, _y| x.cbrt();
    hypot |x, y| x.hypot(y);
    exp2 |x, _y| x.exp2();
    exp_m1 |x, _y| x.exp_m1();
    log2 |x, _y| x.log2();
    log10 |x, _y| x.log10();
    ln_1p |x, _y| x.ln_1p();
    tan |x, _y| x.tan();
    asin |x, _y| x.asin();
    acos |x, _y| x.acos();
    atan |x, _y| x.atan();
    atan2 |x, y| x.atan2(y);
    sinh |x, _y| x.sinh();
    cosh |x, _y| x.cosh();
    asinh |x, _y| x.asinh();
    acosh |x, _y| x.acosh();
    atanh |x, _y| x.atanh();
    turn |x, y| x * y.sin() + y * y.cos();
    nested |x, y| (x.sin() + y.cos()).sin();
}

#[test]
fn ptxas_takes_every_function() {
    let Some(ptxas) = crate::tools::assembler() else { return };
    let kernels: Vec<Kernel> = kernels::<f32>().into_iter().chain(kernels::<f64>()).collect();
    for sm in [70, 80, 90, 100, 120] {
        let modules: Vec<_> = kernels.iter().map(|kernel| crate::tools::module(kernel, &PtxTarget::new(sm))).collect();
        let (said, _) = crate::tools::assemble(&ptxas, &crate::tools::together(&modules), sm);
        let complaints = crate::tools::complaints(&said, |_| false);
        assert!(complaints.is_empty(), "sm_{sm}: {complaints:#?}");
        assert!(said.matches("Used ").count() == kernels.len(), "{said}");
    }
}
